// Saves files and records video.
export function save(name: string, content: BlobPart, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Records the canvas in a format the browser supports; null if there is none. */
export function recorder(canvas: HTMLCanvasElement, done: (file: Blob, extension: string) => void): MediaRecorder | null {
  if (typeof MediaRecorder === "undefined" || !canvas.captureStream) return null;
  const types = ["video/webm;codecs=vp9", "video/webm", "video/mp4"];
  const type = types.find((type) => MediaRecorder.isTypeSupported(type));
  if (!type) return null;
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 8_000_000 });
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  recorder.onstop = () => done(new Blob(parts, { type }), type.startsWith("video/mp4") ? "mp4" : "webm");
  return recorder;
}
