// The bone or muscle at a place of the canvas: parts are drawn with their numbers as colours into one pixel.
import * as THREE from "three";

import { CUT_AT_POSITION, cutAtRest } from "./rest-cut";

export type PickTarget = THREE.SkinnedMesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>;

const VERTEX = `
#include <common>
#include <skinning_pars_vertex>
#include <clipping_planes_pars_vertex>
attribute float part;
varying float vPart;
void main() {
  vPart = part;
  #include <skinbase_vertex>
  #include <begin_vertex>
  #include <skinning_vertex>
  #include <project_vertex>
  ${CUT_AT_POSITION}
}`;
const FRAGMENT = `
#include <clipping_planes_pars_fragment>
varying float vPart;
void main() {
  #include <clipping_planes_fragment>
  float number = floor(vPart + 1.5);
  gl_FragColor = vec4(mod(number, 256.0) / 255.0, floor(number / 256.0) / 255.0, 0.0, 1.0);
}`;

export class AnatomyPick {
  private target: THREE.WebGLRenderTarget | null = null;
  private scene = new THREE.Scene();
  private material = new THREE.ShaderMaterial({ vertexShader: VERTEX, fragmentShader: FRAGMENT, side: THREE.DoubleSide, clipping: true, toneMapped: false });
  /** Hides what is behind it. */
  private coverMaterial = new THREE.MeshBasicMaterial({ color: 0x000000, side: THREE.DoubleSide, toneMapped: false });
  private copies = new Map<PickTarget, THREE.SkinnedMesh>();
  private bytes = new Uint8Array(4);

  constructor() {
    this.coverMaterial.onBeforeCompile = cutAtRest;
  }

  at(
    renderer: THREE.WebGLRenderer,
    camera: THREE.PerspectiveCamera,
    meshes: PickTarget[],
    view: { planes: THREE.Plane[]; at: THREE.Vector2; size: THREE.Vector2; offset: THREE.Vector3; cover: THREE.BufferGeometry | null },
  ): number | null {
    if (meshes.length === 0) return null;
    this.target ??= new THREE.WebGLRenderTarget(1, 1);
    if (this.material.clippingPlanes?.length !== view.planes.length) this.material.needsUpdate = true;
    this.material.clippingPlanes = view.planes;
    this.scene.clear();
    for (const mesh of meshes) this.scene.add(this.copy(mesh, view.offset));
    if (view.cover) this.scene.add(this.cover(view.cover, view.planes, view.offset));
    const eye = onePixel(camera, view.at, view.size);
    const before = renderer.getRenderTarget();
    const clear = renderer.getClearAlpha();
    const color = renderer.getClearColor(new THREE.Color());
    renderer.setRenderTarget(this.target);
    renderer.setClearColor(0x000000, 0);
    renderer.clear();
    renderer.render(this.scene, eye);
    renderer.readRenderTargetPixels(this.target, 0, 0, 1, 1, this.bytes);
    renderer.setRenderTarget(before);
    renderer.setClearColor(color, clear);
    const number = (this.bytes[0] ?? 0) + 256 * (this.bytes[1] ?? 0);
    return number === 0 ? null : number - 1;
  }

  private cover(geometry: THREE.BufferGeometry, planes: THREE.Plane[], offset: THREE.Vector3): THREE.Mesh {
    if (this.coverMaterial.clippingPlanes?.length !== planes.length) this.coverMaterial.needsUpdate = true;
    this.coverMaterial.clippingPlanes = planes;
    const mesh = new THREE.Mesh(geometry, this.coverMaterial);
    mesh.frustumCulled = false;
    mesh.position.copy(offset);
    return mesh;
  }

  private copy(mesh: PickTarget, offset: THREE.Vector3): THREE.SkinnedMesh {
    let copy = this.copies.get(mesh);
    if (!copy) {
      for (const old of this.copies.keys()) if (!old.parent) this.copies.delete(old);
      copy = new THREE.SkinnedMesh(mesh.geometry, this.material);
      copy.bindMode = THREE.DetachedBindMode;
      copy.bind(mesh.skeleton, new THREE.Matrix4());
      copy.frustumCulled = false;
      this.copies.set(mesh, copy);
    }
    copy.position.copy(offset);
    return copy;
  }
}

/** The camera, narrowed to one pixel of its picture. */
function onePixel(camera: THREE.PerspectiveCamera, at: THREE.Vector2, size: THREE.Vector2): THREE.PerspectiveCamera {
  const eye = camera.clone();
  const { view } = camera;
  const [fullWidth, fullHeight] = view?.enabled ? [view.fullWidth, view.fullHeight] : [size.x, size.y];
  const [left, top] = view?.enabled ? [view.offsetX, view.offsetY] : [0, 0];
  const [width, height] = view?.enabled ? [view.width / size.x, view.height / size.y] : [1, 1];
  eye.setViewOffset(fullWidth, fullHeight, left + at.x * width, top + at.y * height, width, height);
  eye.updateProjectionMatrix();
  return eye;
}
