import { defineConfig } from "vite";
import { inline } from "./scripts/inline.mjs";

export default defineConfig({
  plugins: [inline()],
  build: {
    outDir: "../crates/report/page",
    emptyOutDir: true,
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    reportCompressedSize: true,
  },
});
