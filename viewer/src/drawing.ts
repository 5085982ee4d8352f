// A canvas with WebGL 2, and whether a graphics card draws it.

export interface Drawing {
  canvas: HTMLCanvasElement;
  context: WebGL2RenderingContext;
  /** Drawn by the processor. */
  software: boolean;
}

const OPTIONS: WebGLContextAttributes = { alpha: true, depth: true, stencil: false, premultipliedAlpha: true };

/** Smooth edges cost four times the pixels, which drawing without a graphics card cannot spare: the first context has none. */
export function openDrawing(canvas: HTMLCanvasElement): Drawing | null {
  const context = canvas.getContext("webgl2", { ...OPTIONS, antialias: false });
  if (!context) return null;
  const info = context.getExtension("WEBGL_debug_renderer_info");
  const name = info ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  if (/swiftshader|llvmpipe|software/i.test(name)) return { canvas, context, software: true };
  // A canvas keeps the context it was first given.
  const smooth = canvas.cloneNode() as HTMLCanvasElement;
  const better = smooth.getContext("webgl2", { ...OPTIONS, antialias: true });
  if (!better) return { canvas, context, software: false };
  canvas.replaceWith(smooth);
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return { canvas: smooth, context: better, software: false };
}
