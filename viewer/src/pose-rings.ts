// Three rings around a joint: each turns it about one axis.
import * as THREE from "three";

/** Radius of the rings on the screen [px]. */
const RADIUS = 62;
/** Points of a ring that are tested for a pick. */
const SAMPLES = 64;
/** Twist about the bone, then the two directions in which it swings. */
const COLORS = [0x63d471, 0xff6b5e, 0x5aa9ff] as const;
const NAMES = ["twist", "swing sideways", "swing forwards"] as const;

export class PoseRings {
  readonly group = new THREE.Group();
  private rings: THREE.Mesh<THREE.TorusGeometry, THREE.MeshBasicMaterial>[];
  private held: { axis: THREE.Vector3; centre: THREE.Vector3; from: THREE.Vector3 } | null = null;

  constructor() {
    // A torus lies in its XY plane, so it turns about its Z axis.
    const turns = [new THREE.Euler(Math.PI / 2, 0, 0), new THREE.Euler(0, Math.PI / 2, 0), new THREE.Euler(0, 0, 0)];
    this.rings = COLORS.map((color, index) => {
      const material = new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.85 });
      const ring = new THREE.Mesh(new THREE.TorusGeometry(1, 0.025, 8, 64), material);
      ring.rotation.copy(turns[index] ?? new THREE.Euler());
      ring.renderOrder = 13;
      ring.name = NAMES[index] ?? "";
      this.group.add(ring);
      return ring;
    });
    this.group.visible = false;
  }

  /** Places the rings at a joint whose bone points along `bone`. During a turn they stay as they are. */
  place(centre: THREE.Vector3, bone: THREE.Vector3, camera: THREE.PerspectiveCamera, canvasHeight: number): void {
    if (this.held) {
      this.group.position.copy(this.held.centre);
      return;
    }
    this.group.position.copy(centre);
    this.group.quaternion.copy(boneFrame(bone));
    const view = (camera.view?.fullHeight ?? canvasHeight) || canvasHeight;
    const metresPerPixel = (2 * camera.position.distanceTo(centre) * Math.tan((camera.fov * Math.PI) / 360)) / (view * camera.zoom);
    this.group.scale.setScalar(RADIUS * metresPerPixel);
  }

  /** The ring whose line passes within `reach` [px] of the pointer. */
  private at(pointer: THREE.Vector2, reach: number, onScreen: (point: THREE.Vector3) => THREE.Vector2): THREE.Mesh | null {
    if (!this.group.visible) return null;
    this.group.updateMatrixWorld(true);
    let best: THREE.Mesh | null = null;
    let nearest = reach;
    for (const ring of this.rings) {
      for (let k = 0; k < SAMPLES; k += 1) {
        const angle = (2 * Math.PI * k) / SAMPLES;
        const point = ring.localToWorld(new THREE.Vector3(Math.cos(angle), Math.sin(angle), 0));
        const distance = onScreen(point).distanceTo(pointer);
        if (distance < nearest) [nearest, best] = [distance, ring];
      }
    }
    return best;
  }

  highlight(pointer: THREE.Vector2, reach: number, onScreen: (point: THREE.Vector3) => THREE.Vector2): boolean {
    const hit = this.at(pointer, reach, onScreen);
    for (const ring of this.rings) ring.material.opacity = ring === hit ? 1 : 0.6;
    return hit !== null;
  }

  /** Takes hold of the ring under the pointer. */
  press(pointer: THREE.Vector2, reach: number, ray: THREE.Ray, onScreen: (point: THREE.Vector3) => THREE.Vector2): boolean {
    const ring = this.at(pointer, reach, onScreen);
    if (!ring) return false;
    const axis = new THREE.Vector3(0, 0, 1).applyQuaternion(ring.getWorldQuaternion(new THREE.Quaternion()));
    const centre = this.group.position.clone();
    const from = onRing(ray, axis, centre);
    this.held = { axis, centre, from };
    return true;
  }

  /** The turn since the ring was taken. */
  turn(ray: THREE.Ray): THREE.Quaternion | null {
    if (!this.held) return null;
    const { axis, centre, from } = this.held;
    const to = onRing(ray, axis, centre);
    const angle = Math.atan2(new THREE.Vector3().crossVectors(from, to).dot(axis), from.dot(to));
    return new THREE.Quaternion().setFromAxisAngle(axis, angle);
  }

  release(): void {
    this.held = null;
  }
}

/** Direction from the centre to where the pointer is on the ring's plane; on the near side of the ring if it is seen from its edge. */
function onRing(ray: THREE.Ray, axis: THREE.Vector3, centre: THREE.Vector3): THREE.Vector3 {
  const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(axis, centre);
  const steep = Math.abs(ray.direction.dot(axis)) > 0.15;
  const hit = steep ? ray.intersectPlane(plane, new THREE.Vector3()) : null;
  const point = hit ?? ray.closestPointToPoint(centre, new THREE.Vector3()).addScaledVector(ray.direction, -ray.origin.distanceTo(centre) * 0.05);
  const direction = point.sub(centre).projectOnPlane(axis);
  return direction.lengthSq() > 0 ? direction.normalize() : new THREE.Vector3().crossVectors(axis, ray.direction).normalize();
}

/** A frame whose Y axis points along the bone, and whose X axis is as level as possible. */
function boneFrame(bone: THREE.Vector3): THREE.Quaternion {
  const y = bone.lengthSq() > 0 ? bone.clone().normalize() : new THREE.Vector3(0, 1, 0);
  const ahead = Math.abs(y.z) < 0.9 ? new THREE.Vector3(0, 0, 1) : new THREE.Vector3(0, 1, 0);
  const x = new THREE.Vector3().crossVectors(y, ahead).normalize();
  const z = new THREE.Vector3().crossVectors(x, y);
  return new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, y, z));
}
