// Sorts files that were dropped together: a character with the files it needs, motions for it, and settings.
import type { DroppedFile } from "./protocol";

const SETTINGS = ["toml"];
const MOTIONS = ["bvh"];
/** Formats that hold a character, a motion, or both. */
const EITHER = ["person", "glb", "gltf", "vrm", "fbx"];

export interface DroppedSet {
  /** The files of one character; several files that can hold one are tried in order. */
  characters: DroppedFile[];
  /** Files the character refers to, or that belong to a mesh: buffers, textures, skeletons. */
  others: DroppedFile[];
  motions: DroppedFile[];
  settings: DroppedFile[];
}

function extension(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase();
}

export async function sorted(files: DroppedFile[]): Promise<DroppedSet> {
  const readable = await Promise.all(files.map(converted));
  const within = (list: string[]) => (file: DroppedFile): boolean => list.includes(extension(file.name));
  const known = within([...SETTINGS, ...MOTIONS, ...EITHER]);
  return {
    characters: readable.filter(within(EITHER)),
    others: readable.filter((file) => !known(file)),
    motions: readable.filter(within(MOTIONS)),
    settings: readable.filter(within(SETTINGS)),
  };
}

/** FBX is converted by the local server; a static page cannot read it. */
async function converted(file: DroppedFile): Promise<DroppedFile> {
  if (extension(file.name) !== "fbx") return file;
  const answer = await fetch("./convert", {
    method: "POST",
    headers: { "content-type": "application/octet-stream", "x-supple": "1" },
    body: file.bytes as BodyInit,
  }).catch(() => null);
  if (!answer || answer.status === 404 || answer.status === 405) {
    throw new Error("this page cannot read FBX. Convert the file to GLB, or open the page with the Supple program, which reads it");
  }
  if (!answer.ok) throw new Error(await answer.text());
  return { name: file.name.replace(/\.fbx$/i, ".glb"), bytes: new Uint8Array(await answer.arrayBuffer()) };
}
