// Frames the body in the area that no panel covers, and keeps a moving body in it.
import * as THREE from "three";
import { byId } from "./dom";

/** Rate at which the frame follows the body [1/s]. Lower loses a jump, higher passes its jitter on. */
const FOLLOW_RATE = 20;
/** Distance from the outer joints to the skin around them, relative to the body's height. */
const MARGIN = 0.11;

/** Size of the body at rest, relative to the frame, above which a detail is shown on purpose. */
const DETAIL = 1.1;

/** Height of a screen below which little room is left between the bars [px]. */
const LOW = 560;

export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

export class Framing {
  /** Area that no panel covers [px]. */
  free: Area = { left: 0, top: 0, width: 1, height: 1 };
  /** Width of what is shown, relative to one body. */
  spread = 1;
  /** Whether the body is framed in the whole canvas, as a video shows it. */
  whole = false;
  private shift = new THREE.Vector2();
  /** Factor by which a body that grew out of the frame is drawn smaller. */
  private scale = 1;
  private last = performance.now();

  constructor(private camera: THREE.PerspectiveCamera) {}

  /** Uses the area beside or above the panel, between the title and the transport bar, of a canvas of this size [px]. */
  fit(width: number, height: number): void {
    if (this.whole) {
      this.fill(width, height);
      return;
    }
    const panel = byId("panel").getBoundingClientRect();
    const top = byId("top").getBoundingClientRect().bottom;
    // On a low screen the body may be behind the first hint.
    const names = height > LOW ? ["bar", "pose-bar", "hint"] : ["bar", "pose-bar"];
    const bars = names.map((id) => byId(id).getBoundingClientRect()).filter((box) => box.top > 0.5 * height);
    let bottom = Math.min(height, ...bars.map((box) => box.top));
    let right = width;
    if (panel.height > 0 && panel.left > 0.3 * width) right = panel.left;
    else if (panel.height > 0) bottom = Math.min(bottom, panel.top);
    this.use({ left: 0, top, width: Math.max(1, right), height: Math.max(1, bottom - top) }, width, height);
  }

  /** Uses the whole of a picture of this size [px]. */
  fill(width: number, height: number): void {
    this.use({ left: 0, top: 0, width, height }, width, height);
  }

  private use(free: Area, width: number, height: number): void {
    this.free = free;
    this.camera.aspect = free.width / free.height;
    // The camera is placed for an area that is as wide as high.
    this.camera.zoom = this.scale * Math.min(1, (1.05 * this.camera.aspect) / this.spread);
    this.camera.setViewOffset(free.width, free.height, this.shift.x - free.left, this.shift.y - free.top, width, height);
  }

  /** Shifts the frame, and widens it where that is not enough, so that the joints stay in it as far as the body at rest is in it. */
  follow(joints: Iterable<THREE.Vector3>, rest: THREE.Box3): void {
    const now = performance.now();
    const share = 1 - Math.exp((-FOLLOW_RATE * Math.min(now - this.last, 100)) / 1000);
    this.last = now;
    const margin = MARGIN * (rest.max.y - rest.min.y) * this.pixelsPerMetre(rest.getCenter(new THREE.Vector3()));
    const body = this.bounds(joints, margin);
    if (body.isEmpty()) return;
    const area = new THREE.Box2(new THREE.Vector2(), new THREE.Vector2(this.free.width, this.free.height));
    const resting = this.bounds(corners(rest), 0);
    const [size, still, room] = [body, resting, area].map((box) => box.getSize(new THREE.Vector2())) as [THREE.Vector2, THREE.Vector2, THREE.Vector2];
    // A user who came closer than the whole body wants a detail.
    const whole = still.x < DETAIL * room.x && still.y < DETAIL * room.y;
    const scale = whole ? Math.min(1, room.x / size.x, room.y / size.y) : 1;
    const centre = area.getCenter(new THREE.Vector2());
    for (const corner of [body.min, body.max]) corner.sub(centre).multiplyScalar(scale).add(centre);
    const frame = area.clone().union(resting);
    const wanted = new THREE.Vector2(overflow(body, frame, "x"), overflow(body, frame, "y"));
    this.shift.lerp(wanted, share);
    this.scale += share * (scale - this.scale);
  }

  reset(): void {
    this.shift.set(0, 0);
    this.scale = 1;
  }

  /** Bounds of points in the frame, before it was shifted and widened [px]. */
  private bounds(points: Iterable<THREE.Vector3>, margin: number): THREE.Box2 {
    const box = new THREE.Box2();
    const { view } = this.camera;
    if (!view) return box;
    const centre = new THREE.Vector2(0.5 * this.free.width, 0.5 * this.free.height);
    for (const point of points) {
      const at = point.clone().project(this.camera);
      const [x, y] = [((at.x + 1) / 2) * view.width, ((1 - at.y) / 2) * view.height];
      const shown = new THREE.Vector2(x - this.free.left, y - this.free.top).add(this.shift);
      box.expandByPoint(shown.sub(centre).divideScalar(this.scale).add(centre));
    }
    return box.expandByScalar(margin);
  }

  private pixelsPerMetre(point: THREE.Vector3): number {
    const distance = Math.max(1e-3, this.camera.position.distanceTo(point));
    const zoom = this.camera.zoom / this.scale;
    return (zoom * this.free.height) / (2 * distance * Math.tan((this.camera.fov * Math.PI) / 360));
  }
}

/** How far a body is out of a frame along an axis; zero if it is larger. */
function overflow(body: THREE.Box2, frame: THREE.Box2, axis: "x" | "y"): number {
  if (body.max[axis] - body.min[axis] > frame.max[axis] - frame.min[axis] + 1) return 0;
  return Math.min(0, body.min[axis] - frame.min[axis]) + Math.max(0, body.max[axis] - frame.max[axis]);
}

function corners({ min, max }: THREE.Box3): THREE.Vector3[] {
  return [min.x, max.x].flatMap((x) => [min.y, max.y].flatMap((y) => [min.z, max.z].map((z) => new THREE.Vector3(x, y, z))));
}
