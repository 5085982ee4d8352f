// The skin of one method. Uses the worker's arrays without copying.
import * as THREE from "three";
import type { Opened, SlotBuffers } from "./protocol";
import { cutAtRest } from "./rest-cut";

/** Colour of skin without a material. */
const SKIN = new THREE.Color(0xc98f70);
/** Opacity of skin while overlays inside the body are shown. */
const SEE_THROUGH_OPACITY = 0.28;
/** Size of a cloud's points, over its height. */
const POINT_SIZE = 0.004;
const strainRamp = [new THREE.Color(0x2f6fd0), new THREE.Color(0xd9d2c7), new THREE.Color(0xd6402b)] as const;

export class BodyView {
  readonly mesh: THREE.Mesh<THREE.BufferGeometry, THREE.MeshStandardMaterial[]>;
  private geometry = new THREE.BufferGeometry();
  private positions: THREE.BufferAttribute;
  private normals: THREE.BufferAttribute;
  private colors: THREE.BufferAttribute | null = null;
  private textures: THREE.Texture[] = [];
  private lines: THREE.LineSegments | null = null;
  private marked: THREE.Mesh | null = null;
  private cloud: THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial> | null = null;

  /** Whether a frame has arrived. */
  hasSkin = false;

  constructor(opened: Opened, tint: THREE.Color | null) {
    const vertices = opened.uvs.length / 2;
    const attribute = (size: number): THREE.BufferAttribute => {
      const made = new THREE.BufferAttribute(new Float32Array(size * vertices), size);
      made.setUsage(THREE.DynamicDrawUsage);
      return made;
    };
    this.positions = attribute(3);
    this.normals = attribute(3);
    this.geometry.setIndex(new THREE.BufferAttribute(opened.triangles, 1));
    this.geometry.setAttribute("position", this.positions);
    this.geometry.setAttribute("normal", this.normals);
    this.geometry.setAttribute("uv", new THREE.BufferAttribute(opened.uvs, 2));
    for (const [index, part] of opened.description.parts.entries()) {
      this.geometry.addGroup(part.first_index, part.indices, index);
    }
    // The skin moves every frame and is always in view, so no bounding sphere is computed.
    this.geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
    const materials = opened.description.parts.map((part) => this.material(opened, part.material, tint));
    this.mesh = new THREE.Mesh(this.geometry, materials);
    this.mesh.castShadow = true;
    this.mesh.frustumCulled = false;
    this.mesh.visible = false;
    if (opened.triangles.length === 0) this.mesh.add(this.points(opened));
  }

  /** A cloud without a surface. */
  private points(opened: Opened): THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial> {
    const [low, high] = opened.description.bounds;
    const size = Math.max(...high.map((x, axis) => x - (low[axis] ?? x)));
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", this.positions);
    geometry.boundingSphere = this.geometry.boundingSphere;
    const points = new THREE.Points(geometry, new THREE.PointsMaterial({ color: SKIN, size: POINT_SIZE * size }));
    points.frustumCulled = false;
    this.cloud = points;
    return points;
  }

  private material(opened: Opened, index: number | null, tint: THREE.Color | null): THREE.MeshStandardMaterial {
    const entry = index === null ? undefined : opened.description.materials[index];
    const image = index === null ? null : (opened.images[index] ?? null);
    const [r, g, b, alpha] = entry?.color ?? [1, 1, 1, 1];
    const plain = !image && r > 0.95 && g > 0.95 && b > 0.95;
    const material = new THREE.MeshStandardMaterial({
      color: plain ? SKIN : new THREE.Color(r, g, b),
      roughness: plain ? 0.58 : 0.75,
      metalness: 0,
      side: entry?.double_sided || opened.description.two_sided ? THREE.DoubleSide : THREE.FrontSide,
      opacity: alpha,
    });
    material.onBeforeCompile = cutAtRest;
    if (tint) material.color.multiply(tint);
    if (image) {
      material.alphaTest = 0.4;
      void this.texture(material, image);
    }
    return material;
  }

  private async texture(material: THREE.MeshStandardMaterial, bytes: Uint8Array): Promise<void> {
    try {
      const bitmap = await createImageBitmap(new Blob([bytes as BlobPart]), { imageOrientation: "none" });
      const texture = new THREE.Texture(bitmap);
      texture.flipY = false;
      texture.colorSpace = THREE.SRGBColorSpace;
      texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
      texture.anisotropy = 4;
      texture.needsUpdate = true;
      this.textures.push(texture);
      material.map = texture;
      material.needsUpdate = true;
    } catch {
      // Images that the browser cannot decode are ignored.
    }
  }

  take(slot: SlotBuffers): void {
    if (slot.positions.length !== 3 * this.positions.count) return;
    this.positions.array = slot.positions;
    this.normals.array = slot.normals;
    this.positions.needsUpdate = true;
    this.normals.needsUpdate = true;
    this.mesh.visible = this.hasSkin = true;
    this.paint(slot.strains);
  }

  /** Gives the skin at rest, where planes cut it. */
  setRest(positions: Float32Array): void {
    if (positions.length === this.positions.array.length) this.geometry.setAttribute("rest", new THREE.BufferAttribute(positions, 3));
  }

  /** Three numbers a vertex; none before the first frame. */
  get skinNumbers(): ArrayLike<number> {
    return this.hasSkin ? this.positions.array : [];
  }

  private paint(strains: Float32Array | null): void {
    if (!strains) return;
    if (!this.colors) {
      this.colors = new THREE.BufferAttribute(new Float32Array(3 * strains.length), 3);
      this.geometry.setAttribute("color", this.colors);
    }
    const [cold, calm, warm] = strainRamp;
    const colors = this.colors.array;
    for (let v = 0; v < strains.length; v += 1) {
      // A strain of 20 % has full colour: more than living skin takes without pain.
      const t = Math.max(-1, Math.min(1, (strains[v] ?? 0) / 0.26));
      const end = t < 0 ? cold : warm;
      const share = Math.abs(t);
      colors[3 * v] = calm.r + (end.r - calm.r) * share;
      colors[3 * v + 1] = calm.g + (end.g - calm.g) * share;
      colors[3 * v + 2] = calm.b + (end.b - calm.b) * share;
    }
    this.colors.needsUpdate = true;
  }

  setAppearance(options: { strain: boolean; wireframe: boolean; seeThrough: boolean; opacity: number; cuts: THREE.Plane[] }): void {
    const opacity = options.seeThrough ? Math.min(SEE_THROUGH_OPACITY, options.opacity) : options.opacity;
    for (const material of this.mesh.material) {
      const kept = material.userData as { color?: THREE.Color; map?: THREE.Texture | null; alphaTest?: number };
      kept.color ??= material.color.clone();
      kept.alphaTest ??= material.alphaTest;
      if (material.map) kept.map = material.map;
      const strain = options.strain && this.colors !== null;
      material.vertexColors = strain;
      material.color.copy(strain ? new THREE.Color(0xffffff) : kept.color);
      material.map = strain ? null : (kept.map ?? null);
      material.transparent = opacity < 1;
      material.opacity = opacity;
      material.visible = opacity > 0.01;
      material.clippingPlanes = this.geometry.hasAttribute("rest") ? options.cuts : [];
      // The alpha test applies after the opacity, so it is scaled with it.
      material.alphaTest = kept.alphaTest * material.opacity;
      material.depthWrite = opacity >= 1;
      material.needsUpdate = true;
    }
    this.showLines(options.wireframe);
  }

  /** Colours some triangles, given by their corners. */
  highlight(corners: number[]): void {
    this.marked?.removeFromParent();
    this.marked?.geometry.dispose();
    this.marked = null;
    if (corners.length === 0) return;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", this.positions);
    geometry.setIndex(corners);
    geometry.boundingSphere = this.geometry.boundingSphere;
    const look = { color: 0x4cc2ff, transparent: true, opacity: 0.45, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1 };
    this.marked = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ ...look, side: THREE.DoubleSide }));
    this.marked.frustumCulled = false;
    this.mesh.add(this.marked);
  }

  /** Corners of all triangles. */
  get corners(): ArrayLike<number> {
    return this.geometry.index?.array ?? [];
  }

  private showLines(shown: boolean): void {
    if (shown && !this.lines) {
      const index = this.geometry.index?.array ?? [];
      const edges: number[] = [];
      for (let k = 0; k < index.length; k += 3) {
        const [a, b, c] = [index[k] ?? 0, index[k + 1] ?? 0, index[k + 2] ?? 0];
        if (a < b) edges.push(a, b);
        if (b < c) edges.push(b, c);
        if (c < a) edges.push(c, a);
      }
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", this.positions);
      geometry.setIndex(edges);
      geometry.boundingSphere = this.geometry.boundingSphere;
      this.lines = new THREE.LineSegments(
        geometry,
        new THREE.LineBasicMaterial({ color: 0x10151c, transparent: true, opacity: 0.35 }),
      );
      this.lines.frustumCulled = false;
      this.mesh.add(this.lines);
    }
    if (this.lines) this.lines.visible = shown;
  }

  /** Intersection of the pointer's ray with the skin. */
  pick(raycaster: THREE.Raycaster): THREE.Intersection | null {
    return raycaster.intersectObject(this.mesh, false)[0] ?? null;
  }

  dispose(): void {
    this.mesh.removeFromParent();
    this.geometry.dispose();
    this.lines?.geometry.dispose();
    this.marked?.geometry.dispose();
    this.cloud?.geometry.dispose();
    this.cloud?.material.dispose();
    for (const texture of this.textures) texture.dispose();
    for (const material of this.mesh.material) material.dispose();
  }
}
