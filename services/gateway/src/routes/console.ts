import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import { z } from 'zod'
import type { ConsoleFile, ConsoleFiles } from '../http/console-files.ts'
import type { RequestContext } from '../http/request-context.ts'
import { Page } from '../route/media.ts'
import { StreamedResponse } from '../route/reply.ts'
import { route } from '../route/route.ts'

type Deps = { consoleFiles: ConsoleFiles; settings: Settings }

const absent = () => new Fault('not_found', 'Not Found')

/**
 * The page may load only its own files and call only its own server: no inline script or style, no frame
 * around it, no text that becomes HTML (Trusted Types without a policy).
 */
const POLICY = [
  "default-src 'none'",
  ...['script', 'style', 'connect', 'img', 'font'].map((kind) => `${kind}-src 'self'`),
  ...["base-uri 'self'", "form-action 'none'", "frame-ancestors 'none'"],
  ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
].join('; ')

const PAGE_HEADERS = [
  ...['content-security-policy', POLICY],
  ...['cross-origin-opener-policy', 'same-origin'],
  ...['permissions-policy', 'camera=(), geolocation=(), microphone=()'],
  ...['referrer-policy', 'no-referrer'],
  ...['x-frame-options', 'DENY'],
]

const page = { access: 'public', returns: Page, isPage: true } as const

export const openRoot = route('get', '/', {
  ...page,
  summary: 'Send browsers to the console',
  async handle({ ctx }, { consoleFiles }: Deps) {
    const isBrowser = /\btext\/html\b/.test(ctx.header('accept') ?? '')
    if (!isBrowser || consoleFiles.size === 0) throw absent()
    return redirect('console/')
  },
})

export const openConsole = route('get', '/console', {
  ...page,
  summary: 'Send browsers to the console',
  async handle(_, { consoleFiles }: Deps) {
    if (consoleFiles.size === 0) throw absent()
    return redirect('console/')
  },
})

export const getConsole = route('get', '/console/', {
  ...page,
  summary: 'The web console',
  handle: async (_, { consoleFiles }: Deps) => fileOrPage(consoleFiles, ''),
})

export const getConsoleFile = route('get', '/console/{file}', {
  ...page,
  summary: 'A file of the web console, or the console at one of its addresses',
  params: { file: { schema: z.string(), read: (text: string) => text, spans: true } },
  handle: async ({ params: { file } }, { consoleFiles }: Deps) => fileOrPage(consoleFiles, file),
})

/** Relative, so that it is correct behind a proxy that serves the gateway below a path. */
const redirect = (location: string) =>
  new StreamedResponse(async ({ res, id }) => {
    const headers = { location, 'cache-control': 'no-store', 'x-request-id': id, vary: 'accept' }
    res.writeHead(302, { ...headers, 'content-length': 0 }).end()
  })

/**
 * Every address of the console that is not a file answers with the page, which reads the address; missing
 * assets are not found.
 */
function fileOrPage(files: ConsoleFiles, path: string): StreamedResponse {
  const file = files.get(path) ?? (path.startsWith('assets/') ? undefined : files.get('index.html'))
  if (!file) throw absent()
  return new StreamedResponse(async (ctx) => sendFile(ctx, file))
}

function sendFile(ctx: RequestContext, file: ConsoleFile): void {
  const { res, id } = ctx
  if (res.headersSent || res.destroyed) return
  const lasting = file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-store'
  const headers = [
    ...['etag', file.etag, 'vary', 'accept-encoding', 'cache-control', lasting],
    ...['x-content-type-options', 'nosniff', 'cross-origin-resource-policy', 'same-origin'],
    ...['x-request-id', id],
    ...(file.type.startsWith('text/html') ? PAGE_HEADERS : []),
  ]
  if (file.isImmutable && ctx.header('if-none-match') === file.etag)
    return void res.writeHead(304, headers).end()
  const [encoding, body] = encodingOf(file, ctx.header('accept-encoding') ?? '')
  const coded = encoding === undefined ? [] : ['content-encoding', encoding]
  const described = ['content-type', file.type, 'content-length', String(body.length), ...coded]
  res.writeHead(200, [...described, ...headers]).end(body)
}

/** The smallest encoding that the client accepts; one that it refuses with `q=0` is not used. */
function encodingOf({ plain, br, gzip }: ConsoleFile, accepted: string) {
  const takes = (name: string) =>
    new RegExp(`(?:^|[,\\s])${name}\\s*(?:$|,|;(?!\\s*q=0(?:\\.0*)?\\s*(?:$|,)))`, 'i').test(
      accepted,
    )
  if (br && takes('br')) return ['br', br] as const
  if (gzip && takes('gzip')) return ['gzip', gzip] as const
  return [undefined, plain] as const
}
