// Bones, muscles and the surfaces around them, moved by the joints on the graphics card.
import * as THREE from "three";
import { AnatomyPick, type PickTarget } from "./anatomy-pick";
import { cutAtPosition } from "./rest-cut";
import type { AnatomyArrays, AnatomyDescription, AnatomyLayer, AnatomyPart, JointEntry } from "./protocol";

/** Layers from the outside in, and the stretch of the peeling in which each fades away. Bones stay. */
export const PEELING: readonly (readonly [AnatomyLayer | "skin", number, number])[] = [
  ["skin", 0.02, 0.25],
  ["muscleSurface", 0.3, 0.45],
  ["muscles", 0.5, 0.75],
  ["skeletonSurface", 0.8, 0.97],
  ["bones", 2, 3],
];
const COLORS: Record<AnatomyLayer, number> = { muscleSurface: 0xb8564a, skeletonSurface: 0xd9cda8, muscles: 0xffffff, bones: 0xefe5cc };
const REDS = [0xa8382f, 0xbb4a3c, 0x9b3530, 0xc25a48, 0xaf4338, 0xb24f47].map((color) => new THREE.Color(color));
const TENDON = new THREE.Color(0xe9ddd0);
const LIT = new THREE.Color(0x4cc2ff);

/** Opacity from which the pointer finds a layer, and nothing behind it. */
const SEEN = 0.6;

interface LayerView {
  mesh: THREE.SkinnedMesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>;
}

export class AnatomyView {
  readonly group = new THREE.Group();
  readonly layers = new Map<AnatomyLayer, LayerView>();
  /** Layers that the user wants to see. */
  readonly wanted = new Set<AnatomyLayer | "skin">(["skin", "muscles", "bones"]);
  description: AnatomyDescription | null = null;
  /** Whether peeling and cut are shown; without them the body is whole. */
  active = false;
  /** The part under the pointer. */
  lit: number | null = null;
  /** Joints of the character for the joints of the template; -1 where there is none. */
  private ofCharacter: number[] = [];
  private skeleton = new THREE.Skeleton([]);
  private litUniform = { value: -1 };
  private pick = new AnatomyPick();
  private planes: THREE.Plane[] = [];
  private at = 0;

  get loaded(): boolean {
    return this.description !== null;
  }

  take(description: AnatomyDescription, arrays: Record<AnatomyLayer, AnatomyArrays>, joints: JointEntry[]): void {
    this.forget();
    this.description = description;
    this.ofCharacter = description.joints.map((name) => joints.findIndex((joint) => joint.name === name));
    const bones = description.joints.map(() => {
      const bone = new THREE.Bone();
      bone.matrixAutoUpdate = bone.matrixWorldAutoUpdate = false;
      return bone;
    });
    this.skeleton = new THREE.Skeleton(bones, bones.map(() => new THREE.Matrix4()));
    for (const [name] of PEELING) {
      if (name !== "skin") this.layers.set(name, { mesh: this.mesh(name, arrays[name]) });
    }
    this.apply();
  }

  private mesh(name: AnatomyLayer, arrays: AnatomyArrays): LayerView["mesh"] {
    const geometry = new THREE.BufferGeometry();
    geometry.setIndex(new THREE.BufferAttribute(arrays.triangles, 1));
    geometry.setAttribute("position", new THREE.BufferAttribute(arrays.positions, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(arrays.normals, 3));
    geometry.setAttribute("skinIndex", new THREE.BufferAttribute(arrays.joints, 4));
    geometry.setAttribute("skinWeight", new THREE.BufferAttribute(arrays.weights, 4));
    geometry.setAttribute("part", new THREE.BufferAttribute(new Float32Array(arrays.parts), 1));
    geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
    const flesh = name === "muscles";
    if (flesh) geometry.setAttribute("color", new THREE.BufferAttribute(this.reds(arrays), 3));
    const material = new THREE.MeshStandardMaterial({ color: COLORS[name], roughness: 0.62, vertexColors: flesh, side: THREE.DoubleSide });
    this.addLight(material);
    const mesh = new THREE.SkinnedMesh(geometry, material);
    mesh.bindMode = THREE.DetachedBindMode;
    mesh.bind(this.skeleton, new THREE.Matrix4());
    mesh.frustumCulled = false;
    mesh.visible = false;
    this.group.add(mesh);
    return mesh;
  }

  /** Flesh and tendon: neighbours differ, left and right do not. */
  private reds({ parts, tendon }: AnatomyArrays): Float32Array {
    const names = this.description?.parts.map(({ name }) => name.replace(/, (left|right)$/, "")) ?? [];
    const red = names.map((name) => REDS[Math.floor((names.indexOf(name) * 5) / 2) % REDS.length] ?? TENDON);
    const colors = new Float32Array(3 * parts.length);
    const color = new THREE.Color();
    parts.forEach((part, vertex) => {
      color.copy(red[part] ?? TENDON).lerp(TENDON, (tendon[vertex] ?? 0) / 255);
      color.toArray(colors, 3 * vertex);
    });
    return colors;
  }

  /** The part under the pointer shines; the inside of what is cut has a flat colour, as if it were solid. */
  private addLight(material: THREE.MeshStandardMaterial): void {
    material.onBeforeCompile = (shader) => {
      cutAtPosition(shader);
      shader.uniforms["lit"] = this.litUniform;
      shader.uniforms["litColor"] = { value: LIT };
      shader.vertexShader = shader.vertexShader
        .replace("void main() {", "attribute float part;\nvarying float vPart;\nvoid main() {\n\tvPart = part;");
      shader.fragmentShader = shader.fragmentShader
        .replace("void main() {", "uniform float lit;\nuniform vec3 litColor;\nvarying float vPart;\nvoid main() {")
        .replace(
          "#include <opaque_fragment>",
          "if (!gl_FrontFacing) outgoingLight = 0.5 * diffuseColor.rgb;\n\tif (abs(vPart - lit) < 0.5) outgoingLight = mix(outgoingLight, litColor, 0.55);\n\t#include <opaque_fragment>",
        );
    };
  }

  /** Moves everything with the joints. */
  move(matrices: Float32Array): void {
    this.ofCharacter.forEach((joint, index) => {
      const bone = this.skeleton.bones[index];
      if (bone && joint >= 0 && 16 * joint + 15 < matrices.length) bone.matrixWorld.fromArray(matrices, 16 * joint);
    });
  }

  /** 0 shows the skin, 1 only bones. */
  get peel(): number {
    return this.at;
  }

  set peel(at: number) {
    this.at = at;
    this.apply();
  }

  /** How opaque a layer is. */
  opacity(name: AnatomyLayer | "skin"): number {
    if (!this.active) return name === "skin" ? 1 : 0;
    if (!this.wanted.has(name)) return 0;
    const stretch = PEELING.find(([known]) => known === name);
    if (!stretch) return 0;
    return Math.min(1, Math.max(0, (stretch[2] - this.at) / (stretch[2] - stretch[1])));
  }

  /** Whether something below the skin can be seen. */
  get inside(): boolean {
    return this.loaded && (this.opacity("skin") < 1 || this.cuts.length > 0);
  }

  /** Cuts everything with a plane through the body at rest; null for none. */
  cut(plane: THREE.Plane | null): void {
    this.planes = plane ? [plane] : [];
    this.apply();
  }

  get cuts(): THREE.Plane[] {
    return this.active ? this.planes : [];
  }

  /** Whether a peeling or a cut was chosen. */
  get isChosen(): boolean {
    return this.at > 0 || this.planes.length > 0;
  }

  apply(): void {
    const { cuts } = this;
    for (const [name, { mesh }] of this.layers) {
      const opacity = this.opacity(name);
      const { material } = mesh;
      mesh.visible = this.inside && opacity > 0.01;
      // Noise instead of blending: nothing has to be sorted.
      const hashed = opacity < 0.99;
      if (material.alphaHash !== hashed || material.clippingPlanes?.length !== cuts.length) material.needsUpdate = true;
      material.alphaHash = hashed;
      material.opacity = opacity;
      material.clippingPlanes = cuts;
    }
  }

  /** The part at a place of the canvas [px], if one can be seen there. */
  partAt(renderer: THREE.WebGLRenderer, camera: THREE.PerspectiveCamera, at: THREE.Vector2, size: THREE.Vector2, skin: THREE.BufferGeometry | null): number | null {
    if (!this.inside) return null;
    const seen = (["muscles", "bones"] as const).flatMap((name): PickTarget[] => {
      const layer = this.layers.get(name);
      return layer && layer.mesh.visible && this.opacity(name) > SEEN ? [layer.mesh] : [];
    });
    const cover = this.opacity("skin") > SEEN ? skin : null;
    return this.pick.at(renderer, camera, seen, { planes: this.cuts, at, size, offset: this.group.position, cover });
  }

  part(number: number | null): AnatomyPart | null {
    return number === null ? null : (this.description?.parts[number] ?? null);
  }

  light(number: number | null): void {
    this.lit = number;
    this.litUniform.value = number ?? -1;
  }

  forget(): void {
    this.description = null;
    this.light(null);
    for (const { mesh } of this.layers.values()) {
      mesh.removeFromParent();
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    this.layers.clear();
    this.skeleton.dispose();
  }
}
