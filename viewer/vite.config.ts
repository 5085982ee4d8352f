import { defineConfig } from "vite";

// Relative URLs, so that the build works from any folder of a static site.
export default defineConfig({
  base: "./",
  // Into the package of the server, which takes it into the program.
  build: { outDir: "../crates/view/dist", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 1000 },
  worker: { format: "es" },
});
