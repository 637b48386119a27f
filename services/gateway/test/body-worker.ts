import { bundleWorker } from '@windlass/testkit/bundle-worker'

export const workerUrl = await bundleWorker(new URL('../src/route/body.worker.ts', import.meta.url))
