import { defineConfig } from "vite";

// Relative URLs, so that the build works from any folder of a static site.
export default defineConfig({
  base: "./",
  build: { target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 1000 },
  worker: { format: "es" },
});
