import { defineConfig } from 'vite'

/** The console as static files in dist/; scripts/console-files.ts compresses them for the gateway. */
export default defineConfig({
  // Relative: the base element of index.html, which the gateway may change, decides.
  base: './',
  // The workspace's packages are read from their sources, so that the build needs no other build.
  resolve: { conditions: ['windlass', 'browser', 'module', 'import', 'default'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    // Data URLs are no part of the page's policy.
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // A browser has six connections to a server without HTTP/2, so each further file takes a round trip
        // more: what the page begins with is one file, and so is what several screens share.
        codeSplitting: {
          groups: [
            { name: 'start', tags: ['$initial'], priority: 1 },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
})
