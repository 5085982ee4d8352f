// Draws the joints of a rig that is edited.
import * as THREE from "three";
import type { Placed } from "./protocol";

const COLOR = 0x4cc2ff;
const SELECTED = 0xffb37f;
const BALL = new THREE.SphereGeometry(1, 14, 10);

export class RigView {
  readonly group = new THREE.Group();
  private balls = new THREE.Group();
  private bones = new THREE.LineSegments(
    new THREE.BufferGeometry(),
    new THREE.LineBasicMaterial({ color: COLOR, depthTest: false, transparent: true }),
  );

  constructor() {
    this.bones.renderOrder = 10;
    this.bones.frustumCulled = false;
    this.group.add(this.bones, this.balls);
    this.group.visible = false;
  }

  draw(joints: readonly Placed[], selected: number | null, size: number): void {
    const radius = 0.009 * size;
    for (const ball of this.balls.children as THREE.Mesh[]) (ball.material as THREE.Material).dispose();
    this.balls.clear();
    const lines: number[] = [];
    for (const [index, joint] of joints.entries()) {
      const color = index === selected ? SELECTED : COLOR;
      this.balls.add(ballAt(joint.position, index === selected ? 1.5 * radius : radius, color));
      const parent = joint.parent === null ? undefined : joints[joint.parent];
      if (parent) lines.push(...parent.position, ...joint.position);
    }
    this.bones.geometry.dispose();
    this.bones.geometry = new THREE.BufferGeometry();
    this.bones.geometry.setAttribute("position", new THREE.Float32BufferAttribute(lines, 3));
  }
}

/** A ball that is drawn over everything. */
export function ballAt(position: readonly [number, number, number], radius: number, color: number): THREE.Mesh<THREE.SphereGeometry, THREE.MeshBasicMaterial> {
  const ball = new THREE.Mesh(BALL, new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true }));
  ball.position.set(...position);
  ball.scale.setScalar(radius);
  ball.renderOrder = 11;
  return ball;
}
