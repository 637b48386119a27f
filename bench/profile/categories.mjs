import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** Functions of libuv's streams: they return when the kernel has taken the bytes. */
const WRITES = /^(writev|writeBuffer|writeUtf8String|writeLatin1String|writeAsciiString)$/
const NOT_BUSY = '(idle)'
const MAX_PAUSE_US = 1_000
const NAMES = {
  '(garbage collector)': 'garbage collection',
  '(program)': 'native code without a function: reads, HTTP/2 frames, event loop',
  '(root)': 'native code without a function: reads, HTTP/2 frames, event loop',
}

const maps = new Map()

function mapOf(file) {
  if (!maps.has(file)) {
    const name = `${file}.map`
    maps.set(file, existsSync(name) ? new SourceMap(JSON.parse(readFileSync(name))) : undefined)
  }
  return maps.get(file)
}

/** Returns the source of a function, where a source map knows it. */
export function sourceOf({ url, lineNumber, columnNumber }) {
  if (!url.startsWith('file:')) return url
  const file = fileURLToPath(url)
  return mapOf(file)?.findEntry(lineNumber, columnNumber).originalSource ?? file
}

/** Returns what a function belongs to: a part of Node, a package, or a folder of ours. */
export function categoryOf(frame, source) {
  const { functionName, url } = frame
  if (!url) return WRITES.test(functionName) ? 'writes on sockets' : nativePartOf(functionName)
  if (url.startsWith('node:')) return nodePartOf(url)
  return sourcePartOf(source)
}

function sourcePartOf(source) {
  const [, bundled] =
    /node_modules\/\.pnpm\/(?:[^/]+)\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source) ?? []
  if (bundled) return bundled
  const [, workspace, folder] =
    /(?:^|\/)(?:packages\/([a-z-]+)|\.\.)\/src\/(?:([a-z-]+)\/)?/.exec(source) ?? []
  if (workspace || folder) return workspace ? `packages/${workspace}` : `own: ${folder}`
  return /(?:^|\/)proto\//.test(source) ? 'generated: proto' : path.basename(source)
}

const nativePartOf = (name) => NAMES[name] ?? 'functions of Node and V8'

function nodePartOf(url) {
  const [, part = url] = /^node:(?:internal\/)?_?([a-z0-9]+)/.exec(url) ?? []
  return `Node: ${part}`
}

/** Adds up the samples of a profile by a name that `nameOf` gives a frame; answers shares of the busy time, highest first. */
export function sharesOf({ nodes, samples, timeDeltas }, nameOf) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const names = new Map()
  const micros = new Map()
  let busy = 0
  for (const [i, id] of samples.entries()) {
    const frame = frames.get(id)
    if (frame.functionName === NOT_BUSY) continue
    if (!names.has(id)) names.set(id, nameOf(frame))
    const name = names.get(id)
    // A process that waits for a processor is not busy: a longer pause between two samples says nothing.
    const own = Math.min(timeDeltas[i], MAX_PAUSE_US)
    busy += own
    micros.set(name, (micros.get(name) ?? 0) + own)
  }
  const shares = [...micros].map(([name, own]) => ({ name, share: own / busy }))
  return { busyMs: busy / 1_000, shares: shares.sort((a, b) => b.share - a.share) }
}
