// Overlays: skeleton, bone volumes, tets and contacts.
import * as THREE from "three";
import type { JointEntry, OverlayName, Overlays } from "./protocol";

const BONE = 0xf1e6cf;
const JOINT = 0x4cc2ff;
const UP = new THREE.Vector3(0, 1, 0);

export class OverlayView {
  readonly group = new THREE.Group();
  readonly shown = new Set<OverlayName>();
  private skeleton: THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial>;
  private dots: THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial>;
  private capsules: THREE.InstancedMesh | null = null;
  private spheres: THREE.InstancedMesh | null = null;
  private boneSurface: THREE.Mesh | null = null;
  private tets: THREE.LineSegments | null = null;
  private contacts: THREE.Points | null = null;
  private joints: JointEntry[] = [];

  constructor() {
    const onTop = { depthTest: false, transparent: true } as const;
    this.skeleton = new THREE.LineSegments(
      new THREE.BufferGeometry(),
      new THREE.LineBasicMaterial({ color: JOINT, opacity: 0.9, ...onTop }),
    );
    this.dots = new THREE.Points(
      new THREE.BufferGeometry(),
      new THREE.PointsMaterial({ color: 0xffffff, size: 6, sizeAttenuation: false, ...onTop }),
    );
    for (const object of [this.skeleton, this.dots]) {
      object.frustumCulled = false;
      object.renderOrder = 10;
      object.visible = false;
      this.group.add(object);
    }
  }

  forget(joints: JointEntry[]): void {
    this.joints = joints;
    for (const object of [this.capsules, this.spheres, this.boneSurface, this.tets, this.contacts]) {
      object?.removeFromParent();
      object?.geometry.dispose();
    }
    this.capsules = this.spheres = null;
    this.boneSurface = this.tets = this.contacts = null;
  }

  take(overlays: Overlays): void {
    this.drawSkeleton(overlays.joints);
    this.drawVolumes(overlays);
    this.drawBoneSurface(overlays.boneSurface);
    this.drawTets(overlays.tets);
    this.drawContacts(overlays.contacts);
  }

  private drawSkeleton(joints: Float32Array): void {
    const shown = this.shown.has("skeleton");
    this.skeleton.visible = this.dots.visible = shown;
    if (!shown) return;
    const lines: number[] = [];
    const dots: number[] = [];
    for (const [index, joint] of this.joints.entries()) {
      if (!joint.bone) continue;
      dots.push(...joints.subarray(3 * index, 3 * index + 3));
      const parent = joint.parent;
      if (parent !== null && this.joints[parent]?.bone) {
        lines.push(...joints.subarray(3 * parent, 3 * parent + 3), ...joints.subarray(3 * index, 3 * index + 3));
      }
    }
    setPositions(this.skeleton.geometry, lines);
    setPositions(this.dots.geometry, dots);
  }

  private drawVolumes(overlays: Overlays): void {
    const { capsules, spheres } = overlays;
    if (this.capsules) this.capsules.visible = capsules !== null;
    if (this.spheres) this.spheres.visible = spheres !== null;
    if (!capsules || !spheres) return;
    this.capsules ??= this.instances(new THREE.CylinderGeometry(1, 1, 1, 16, 1, false), capsules.length / 7, BONE);
    this.spheres ??= this.instances(new THREE.SphereGeometry(1, 18, 12), spheres.length / 4, JOINT);
    const [from, to, middle, scale] = [0, 1, 2, 3].map(() => new THREE.Vector3()) as [
      THREE.Vector3,
      THREE.Vector3,
      THREE.Vector3,
      THREE.Vector3,
    ];
    const turn = new THREE.Quaternion();
    const matrix = new THREE.Matrix4();
    for (let k = 0; k < capsules.length / 7; k += 1) {
      from.fromArray(capsules, 7 * k);
      to.fromArray(capsules, 7 * k + 3);
      const radius = capsules[7 * k + 6] ?? 0;
      middle.lerpVectors(from, to, 0.5);
      to.sub(from);
      const length = to.length();
      turn.setFromUnitVectors(UP, to.normalize());
      this.capsules.setMatrixAt(k, matrix.compose(middle, turn, scale.set(radius, length, radius)));
    }
    turn.identity();
    for (let k = 0; k < spheres.length / 4; k += 1) {
      from.fromArray(spheres, 4 * k);
      this.spheres.setMatrixAt(k, matrix.compose(from, turn, scale.setScalar(spheres[4 * k + 3] ?? 0)));
    }
    this.capsules.instanceMatrix.needsUpdate = true;
    this.spheres.instanceMatrix.needsUpdate = true;
  }

  private instances(geometry: THREE.BufferGeometry, count: number, color: number): THREE.InstancedMesh {
    const mesh = new THREE.InstancedMesh(geometry, new THREE.MeshStandardMaterial({ color, roughness: 0.6 }), count);
    mesh.frustumCulled = false;
    this.group.add(mesh);
    return mesh;
  }

  private drawBoneSurface(surface: Overlays["boneSurface"]): void {
    if (this.boneSurface) this.boneSurface.visible = surface !== null;
    if (!surface) return;
    if (surface.triangles) {
      this.boneSurface?.removeFromParent();
      const geometry = new THREE.BufferGeometry();
      geometry.setIndex(new THREE.BufferAttribute(surface.triangles, 1));
      const material = new THREE.MeshStandardMaterial({ color: BONE, roughness: 0.7, flatShading: true });
      this.boneSurface = new THREE.Mesh(geometry, material);
      this.boneSurface.frustumCulled = false;
      this.group.add(this.boneSurface);
    }
    if (this.boneSurface) setPositions(this.boneSurface.geometry, surface.positions);
  }

  private drawTets(tets: Overlays["tets"]): void {
    if (this.tets) this.tets.visible = tets !== null;
    if (!tets) return;
    if (tets.edges) {
      this.tets?.removeFromParent();
      const geometry = new THREE.BufferGeometry();
      geometry.setIndex(new THREE.BufferAttribute(tets.edges, 1));
      const material = new THREE.LineBasicMaterial({ color: 0x7fd6c2, transparent: true, opacity: 0.3 });
      this.tets = new THREE.LineSegments(geometry, material);
      this.tets.frustumCulled = false;
      this.group.add(this.tets);
    }
    if (this.tets) setPositions(this.tets.geometry, tets.positions);
  }

  private drawContacts(contacts: Float32Array | null): void {
    if (this.contacts) this.contacts.visible = contacts !== null;
    if (!contacts) return;
    if (!this.contacts) {
      const material = new THREE.PointsMaterial({ color: 0xff5a3c, size: 5, sizeAttenuation: false, depthTest: false });
      this.contacts = new THREE.Points(new THREE.BufferGeometry(), material);
      this.contacts.frustumCulled = false;
      this.contacts.renderOrder = 11;
      this.group.add(this.contacts);
    }
    setPositions(this.contacts.geometry, contacts);
  }
}

function setPositions(geometry: THREE.BufferGeometry, values: Float32Array | number[]): void {
  const old = geometry.getAttribute("position") as THREE.BufferAttribute | undefined;
  if (old && old.array.length === values.length) {
    old.copyArray(values);
    old.needsUpdate = true;
    return;
  }
  // A different length needs a new buffer on the GPU.
  geometry.dispose();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(values, 3));
  geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
}
