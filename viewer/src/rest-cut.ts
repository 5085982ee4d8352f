// Cuts a body where it is at rest: the cut follows the body, whatever its pose.
//
// Planes are those of three.js. A vertex is tested where it is at rest instead of where it is drawn.
import type * as THREE from "three";

type Shader = Parameters<THREE.Material["onBeforeCompile"]>[0];
const CHUNK = "#include <clipping_planes_vertex>";

function tested(place: string): string {
  return `#if NUM_CLIPPING_PLANES > 0\n\tvClipPosition = -(viewMatrix * vec4(${place}, 1.0)).xyz;\n#endif`;
}

/** Replaces three's test for geometry whose positions are those at rest, because joints move it on the graphics card. */
export const CUT_AT_POSITION = tested("position");

/** For geometry that moves, with an attribute `rest`. */
export function cutAtRest(shader: Shader): void {
  shader.vertexShader = shader.vertexShader
    .replace("void main() {", "#if NUM_CLIPPING_PLANES > 0\nattribute vec3 rest;\n#endif\nvoid main() {")
    .replace(CHUNK, tested("rest"));
}

/** For geometry that joints move. */
export function cutAtPosition(shader: Shader): void {
  shader.vertexShader = shader.vertexShader.replace(CHUNK, CUT_AT_POSITION);
}
