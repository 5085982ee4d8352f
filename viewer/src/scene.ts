// Renderer, lights, ground and camera.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";
import { Framing } from "./framing";
import type { GlCanvas } from "./gl-canvas";

export interface Palette {
  ground: number;
  line: number;
  sky: number;
  bounce: number;
}

const DARK: Palette = { ground: 0x34373f, line: 0x4a4f5b, sky: 0xdfe8ff, bounce: 0x3a3028 };
const LIGHT: Palette = { ground: 0xe9e7e3, line: 0xd5d1ca, sky: 0xffffff, bounce: 0xb9a999 };

/** Most pixels drawn; beyond it, the gain in resolutionScale is not visible. */
const MAX_PIXELS = 2560 * 1440;

/** Fewest pixels drawn; below it, edges break up and little time is saved, because triangles dominate the cost. */
const MIN_PIXELS = 440 * 330;

export class Scene {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(32, 1, 0.01, 200);
  readonly renderer: THREE.WebGLRenderer;
  readonly controls: OrbitControls;
  readonly canvas: HTMLCanvasElement;
  readonly software: boolean;
  private key = new THREE.DirectionalLight(0xfff1e2, 2.6);
  private rim = new THREE.DirectionalLight(0xbdd3ff, 1.3);
  private hemisphere = new THREE.HemisphereLight(0xffffff, 0x444444, 1.25);
  private ground: Ground;
  private rings: THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial>;
  private size = new THREE.Vector2();
  private resolutionScale = 1;
  /** Whether the picture has its full resolution, because nothing moves. */
  sharp = false;
  private frames = 0;
  readonly framing = new Framing(this.camera);

  constructor({ canvas, context, software }: GlCanvas) {
    this.canvas = canvas;
    this.software = software;
    this.renderer = new THREE.WebGLRenderer({ canvas, context, antialias: !software, alpha: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = this.software ? THREE.BasicShadowMap : THREE.PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = !this.software;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.toneMappingExposure = 0.92;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = Math.PI * 0.56;
    this.ground = ground(software);
    this.rings = rings();
    this.addLights();
    this.scene.add(this.ground, this.rings);
    if (this.software) this.resolutionScale = 0.75;
  }

  private addLights(): void {
    const { key } = this;
    key.castShadow = true;
    key.shadow.mapSize.setScalar(this.software ? 768 : 2048);
    key.shadow.bias = -0.0006;
    key.shadow.normalBias = this.software ? 0.035 : 0.012;
    key.shadow.radius = 5;
    this.scene.add(key, key.target, this.rim, this.rim.target, this.hemisphere);
  }

  /** Adds environment lighting. It takes a moment to compute, so it is added after the first movement. */
  addEnvironment(): void {
    // Too expensive per pixel for software rendering.
    if (this.software || this.scene.environment) return;
    const maker = new THREE.PMREMGenerator(this.renderer);
    this.scene.environment = maker.fromScene(new RoomEnvironment(), 0.04).texture;
    this.scene.environmentIntensity = 0.35;
    this.hemisphere.intensity *= 0.6;
    maker.dispose();
  }

  /** Places the camera in front of a character that is rotated by `facing` from +Z about the vertical. */
  placeCamera(low: THREE.Vector3, high: THREE.Vector3, facing: number): void {
    const centre = low.clone().add(high).multiplyScalar(0.5);
    const size = high.clone().sub(low);
    const radius = 0.5 * Math.max(size.y, 0.95 * size.x, 0.95 * size.z, 1e-3);
    const distance = (1.17 * radius) / Math.tan((this.camera.fov * Math.PI) / 360);
    this.controls.target.copy(centre);
    const turn = (x: number, y: number, z: number): THREE.Vector3 => new THREE.Vector3(x, y, z).applyAxisAngle(THREE.Object3D.DEFAULT_UP, facing);
    this.camera.position.copy(centre).add(turn(0.42, 0.12, 0.9).normalize().multiplyScalar(distance));
    this.camera.near = radius * 0.02;
    this.camera.far = distance + 60 * radius;
    this.camera.updateProjectionMatrix();
    this.controls.minDistance = radius * 0.3;
    this.controls.maxDistance = distance * 5;
    this.ground.position.y = low.y;
    this.rings.position.y = low.y + radius * 1e-3;
    this.ground.scale.setScalar(radius * 9);
    this.rings.scale.setScalar(radius);
    this.aim(centre, radius, turn);
    this.controls.update();
  }

  private aim(centre: THREE.Vector3, radius: number, turn: (x: number, y: number, z: number) => THREE.Vector3): void {
    const { key, rim } = this;
    key.target.position.copy(centre);
    key.position.copy(centre).add(turn(1.4, 2.4, 1.9).multiplyScalar(radius * 1.6));
    rim.target.position.copy(centre);
    rim.position.copy(centre).add(turn(-2.2, 1.6, -2.4).multiplyScalar(radius));
    const camera = key.shadow.camera;
    const reach = radius * 2.1;
    Object.assign(camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: radius, far: radius * 10 });
    camera.updateProjectionMatrix();
  }

  useTheme(dark: boolean): void {
    const palette = dark ? DARK : LIGHT;
    this.ground.material.color.setHex(palette.ground);
    // The matte ground of software rendering is darker.
    if (dark && this.software) this.ground.material.color.multiplyScalar(1.9);
    this.rings.material.color.setHex(palette.line);
    this.hemisphere.color.setHex(palette.sky);
    this.hemisphere.groundColor.setHex(palette.bounce);
    this.hemisphere.intensity = dark ? 0.85 : 1.5;
    this.key.intensity = dark ? 2.5 : 2.3;
    this.rim.intensity = dark ? 1.6 : 0.8;
  }

  /** Scales the resolution, so that a slow machine keeps its frame rate. */
  scaleResolution(factor: number): void {
    const least = Math.sqrt(MIN_PIXELS / Math.max(1, this.width * this.height));
    this.resolutionScale = Math.min(1, Math.max(least, 0.5, this.resolutionScale * factor));
    this.size.set(0, 0);
  }

  /** Fills the background, which is transparent otherwise, for a video. */
  fillBackground(on: boolean): void {
    const paper = getComputedStyle(document.documentElement).getPropertyValue("--paper").trim();
    this.scene.background = on ? new THREE.Color(paper) : null;
  }

  /** Draws in full resolution while nothing moves. */
  sharpen(on: boolean): void {
    if (on === this.sharp) return;
    this.sharp = on;
    if (this.resolutionScale < 1) this.size.set(0, 0);
    if (this.software) this.renderer.shadowMap.needsUpdate = true;
  }

  /** Call before each frame. With software rendering, shadows are updated every third frame. */
  castShadows(): void {
    this.frames += 1;
    if (this.software && this.frames % 3 === 0) this.renderer.shadowMap.needsUpdate = true;
  }

  /** Returns whether the canvas has another size now, and must be drawn. */
  fitCanvas(): boolean {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const changed = width !== this.size.x || height !== this.size.y;
    if (changed) {
      this.size.set(width, height);
      const wanted = Math.min(window.devicePixelRatio, 2) * (this.sharp ? 1 : this.resolutionScale);
      const most = Math.sqrt(MAX_PIXELS / Math.max(1, width * height));
      this.renderer.setPixelRatio(Math.min(wanted, Math.max(most, 0.4)));
      this.renderer.setSize(width, height, false);
    }
    this.framing.fit(width, height);
    return changed;
  }

  /** Draws a picture of another size [px] than the canvas has, and encodes it as PNG. */
  picture(width: number, height: number, draw: (width: number, height: number) => void): Promise<Blob> {
    const shown = new THREE.Vector2(this.width, this.height);
    this.renderer.setPixelRatio(1);
    this.renderer.setSize(width, height, false);
    // The same shape keeps the view of the window; another fills the picture.
    if (Math.abs(width / height - shown.x / shown.y) < 0.01) this.framing.fit(shown.x, shown.y);
    else this.framing.fill(width, height);
    if (this.software) this.renderer.shadowMap.needsUpdate = true;
    draw(width, height);
    const picture = new Promise<Blob>((resolve, reject) => {
      this.canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser could not encode the picture"))), "image/png");
    });
    this.size.set(0, 0);
    this.fitCanvas();
    draw(shown.x, shown.y);
    return picture;
  }

  get width(): number {
    return this.canvas.clientWidth;
  }

  get height(): number {
    return this.canvas.clientHeight;
  }
}

type Ground = THREE.Mesh<THREE.CircleGeometry, THREE.MeshStandardMaterial | THREE.MeshLambertMaterial>;

/** A disc that fades into the page background. */
function ground(software: boolean): Ground {
  const look = { transparent: true, depthWrite: false };
  // Lambert shading looks almost like a rough standard material and costs half as much, but has no environment lighting.
  const material = software ? new THREE.MeshLambertMaterial(look) : new THREE.MeshStandardMaterial({ ...look, roughness: 0.95 });
  material.alphaMap = fade();
  const mesh = new THREE.Mesh(new THREE.CircleGeometry(1, 48), material);
  mesh.rotation.x = -Math.PI / 2;
  mesh.receiveShadow = true;
  mesh.renderOrder = -2;
  return mesh;
}

function fade(): THREE.Texture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 128;
  const context = canvas.getContext("2d");
  if (context) {
    const gradient = context.createRadialGradient(64, 64, 8, 64, 64, 64);
    gradient.addColorStop(0, "#fff");
    gradient.addColorStop(0.35, "#aaa");
    gradient.addColorStop(1, "#000");
    context.fillStyle = gradient;
    context.fillRect(0, 0, 128, 128);
  }
  return new THREE.CanvasTexture(canvas);
}

function rings(): THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial> {
  const points: number[] = [];
  for (const radius of [1, 2, 3]) {
    for (let k = 0; k < 96; k += 1) {
      for (const end of [k, k + 1]) {
        const angle = (end / 96) * 2 * Math.PI;
        points.push(radius * Math.cos(angle), 0, radius * Math.sin(angle));
      }
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ transparent: true, opacity: 0.55 }));
  lines.renderOrder = -1;
  return lines;
}
