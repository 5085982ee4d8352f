// Creates the WebGL 2 canvas and detects software rendering.

export interface GlCanvas {
  canvas: HTMLCanvasElement;
  context: WebGL2RenderingContext;
  /** Whether it is rendered in software. */
  software: boolean;
}

const OPTIONS: WebGLContextAttributes = { alpha: true, depth: true, stencil: false, premultipliedAlpha: true };

/** Opens the context. Software rendering gets no antialiasing, which would cost four times the pixels. */
export function openGlCanvas(canvas: HTMLCanvasElement): GlCanvas | null {
  const context = canvas.getContext("webgl2", { ...OPTIONS, antialias: false });
  if (!context) return null;
  const info = context.getExtension("WEBGL_debug_renderer_info");
  const name = info ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  if (/swiftshader|llvmpipe|software/i.test(name)) return { canvas, context, software: true };
  // A canvas keeps its first context, so antialiasing needs a new canvas.
  const smooth = canvas.cloneNode() as HTMLCanvasElement;
  const better = smooth.getContext("webgl2", { ...OPTIONS, antialias: true });
  if (!better) return { canvas, context, software: false };
  canvas.replaceWith(smooth);
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return { canvas: smooth, context: better, software: false };
}
