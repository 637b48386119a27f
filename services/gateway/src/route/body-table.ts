import { DEFAULT_BODY_BYTES, maxBodyBytes } from './body-sizes.ts'
import type { Route } from './route.ts'

const HEAD = ['method', 'path', 'class', 'largest body']

const PREFACE = [
  '## Request bodies',
  '',
  'The largest body of each route with default settings; a larger one is answered 413. Routes that are not listed',
  'read none. [Security](security.md#request-bodies) says when a body is read.',
  '',
]

/** Prints the routes that read a body, with its size class and limit, as a section in Markdown. */
export function bodyTable(routes: readonly Route[]): string[] {
  const rows = routes.flatMap(({ method, path, body }) => {
    if (body.type === 'none') return []
    const isUpload = body.type === 'multipart/form-data'
    const bytes = isUpload ? DEFAULT_BODY_BYTES.upload : maxBodyBytes(body.size ?? 'control')
    const size = isUpload ? 'upload' : (body.size ?? 'control')
    return [[method.toUpperCase(), `\`${path}\``, size, inUnits(bytes)]]
  })
  const lines = [HEAD, HEAD.map(() => '---'), ...rows]
  return [...PREFACE, ...lines.map((cells) => `| ${cells.join(' | ')} |`)]
}

const KIBIBYTE = 1_024
const MEBIBYTE = 1_048_576

const inUnits = (bytes: number) =>
  bytes < MEBIBYTE ? `${bytes / KIBIBYTE} KiB` : `${bytes / MEBIBYTE} MiB`
