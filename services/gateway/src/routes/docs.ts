import { z } from 'zod'
import type { JsonText } from '../domain/views.ts'
import { send } from '../http/response.ts'
import { Page } from '../route/media.ts'
import { StreamedResponse } from '../route/reply.ts'
import { route } from '../route/route.ts'
import { docsPage } from './docs-page.ts'

type Deps = { openapi: () => JsonText }

export const getOpenApi = route('get', '/openapi.json', {
  summary: 'This document',
  access: 'public',
  returns: z.record(z.string(), z.unknown()),
  handle: async (_, { openapi }: Deps) => openapi(),
})

export const getDocs = route('get', '/docs', {
  summary: 'Show a page on which to read and try the API',
  access: 'public',
  returns: Page,
  handle: async () =>
    new StreamedResponse(async (ctx) => {
      ctx.responseHeaders.push(
        'content-security-policy',
        docsPage.policy,
        'x-frame-options',
        'DENY',
      )
      send(ctx, { status: 200, type: 'text/html; charset=utf-8', text: docsPage.html })
    }),
})
