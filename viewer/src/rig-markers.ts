// Markers to drag: where chin, groin, wrists, elbows and knees are, for a fit that does not find them.
import * as THREE from "three";
import type { App } from "./app";
import { ballAt } from "./rig-view";
import type { MarkerPlaces, Vector } from "./protocol";
import type { Pointer, PressTool } from "./tools";

const COLOR = 0xffb37f;
/** Picking distance [px], for a mouse and for a finger. */
const REACH = { fine: 20, coarse: 30 } as const;
/** Height of a name, relative to the body. */
const LABEL_HEIGHT = 0.03;

export class RigMarkers implements PressTool {
  readonly group = new THREE.Group();
  /** Positions by name [m]; null while there are none. */
  places: MarkerPlaces | null = null;
  /** Whether a marker moves the one on the other side with it. */
  symmetric = true;
  private dragged: string | null = null;
  private asked = 0;

  constructor(private app: App) {}

  show(places: MarkerPlaces | null): void {
    this.places = places;
    this.dragged = null;
    this.draw();
  }

  press({ at, touch, onScreen }: Pointer): boolean {
    const reach = touch ? REACH.coarse : REACH.fine;
    const near = Object.entries(this.places ?? {})
      .map(([name, place]) => ({ name, distance: onScreen(new THREE.Vector3(...place)).distanceTo(at) }))
      .sort((a, b) => a.distance - b.distance)[0];
    if (!near || near.distance > reach) return false;
    this.dragged = near.name;
    return true;
  }

  move({ raycaster }: Pointer): void {
    const name = this.dragged;
    const place = name ? this.places?.[name] : undefined;
    if (!name || !place) return;
    const normal = this.app.scene.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, new THREE.Vector3(...place));
    const point = raycaster.ray.intersectPlane(plane, new THREE.Vector3());
    if (!point) return;
    this.put(name, point.toArray() as Vector);
    if (!this.app.tools.pick()) return;
    // Half way through the body.
    const asked = ++this.asked;
    const { origin, direction } = raycaster.ray;
    const ask = { origin: origin.toArray() as Vector, direction: direction.toArray() as Vector };
    void this.app.simulation.request("middle", ask).then((middle) => {
      if (middle && asked === this.asked) this.put(name, middle);
    });
  }

  release(): void {
    this.dragged = null;
  }

  cancel(): void {
    this.dragged = null;
  }

  private put(name: string, place: Vector): void {
    if (!this.places) return;
    this.places[name] = place;
    const other = name.endsWith(".L") ? name.replace(/L$/, "R") : name.endsWith(".R") ? name.replace(/R$/, "L") : null;
    if (this.symmetric && other && this.places[other]) {
      const [low, high] = this.app.description?.bounds ?? [[0], [0]];
      this.places[other] = [low[0] + high[0] - place[0], place[1], place[2]];
    }
    this.draw();
  }

  private draw(): void {
    for (const object of this.group.children) {
      const { material } = object as THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>;
      material.map?.dispose();
      material.dispose();
    }
    this.group.clear();
    const { size } = this.app;
    for (const [name, place] of Object.entries(this.places ?? {})) {
      const ball = ballAt(place, 0.012 * size, COLOR);
      ball.renderOrder = 14;
      this.group.add(ball, label(name, place, size));
    }
  }
}

/** A name beside a marker. */
function label(name: string, place: Vector, size: number): THREE.Sprite {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [256, 64];
  const context = canvas.getContext("2d");
  if (context) {
    context.font = "600 40px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.lineWidth = 8;
    context.strokeStyle = "rgb(0 0 0 / 75%)";
    context.fillStyle = "#ffd9bf";
    context.strokeText(name, 8, 32);
    context.fillText(name, 8, 32);
  }
  const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map: new THREE.CanvasTexture(canvas), depthTest: false }));
  sprite.center.set(-0.08, 0.5);
  sprite.position.set(...place);
  sprite.scale.set(4 * LABEL_HEIGHT * size, LABEL_HEIGHT * size, 1);
  sprite.renderOrder = 15;
  return sprite;
}
