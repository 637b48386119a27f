import { VERSION } from '@windlass/runtime/version'
import { z } from 'zod'
import { ruleOf } from '../access/rules.ts'
import { ageHeaders } from '../http/answer-age.ts'
import { EventStream } from './media.ts'
import type { Method, Route, Shape } from './route.ts'

type Json = Record<string, unknown>

/** Builds the OpenAPI 3.1 document of the routes. Schemas with an `id` become components. */
export function openapi(routes: Iterable<Route>): Json {
  const components: Json = { Refusal }
  const paths: Record<string, Partial<Record<Method, Json>>> = {}
  for (const route of routes) {
    if (route.isPage) continue
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route, components) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Windlass', version: VERSION },
    servers: [{ url: '/', description: 'The server of this document' }],
    paths,
    components: {
      schemas: components,
      responses: { Refused },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  }
}

const Refused = {
  description: 'Refused: 400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 500 or 503.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
}

const Refusal = {
  type: 'object',
  required: ['detail'],
  properties: {
    detail: {
      description: 'What was wrong: a sentence, an object with `message`, or a list of problems.',
      anyOf: [
        { type: 'string' },
        { type: 'object', required: ['message'], properties: { message: { type: 'string' } } },
        {
          type: 'array',
          items: {
            type: 'object',
            required: ['loc', 'msg', 'type'],
            properties: {
              loc: { type: 'array', items: { type: ['string', 'integer'] } },
              msg: { type: 'string' },
              type: { type: 'string' },
            },
          },
        },
      ],
    },
  },
}

function operation(route: Route, into: Json): Json {
  const { path, operationId, summary, access, params, query, headers, body, returns, status } =
    route
  const fields = (where: 'path' | 'query' | 'header', shape: Shape) =>
    Object.entries(shape).map(([name, type]) => {
      const absent = type.safeParse(undefined)
      const schema = schemaOf(type, 'input', into)
      return {
        name,
        in: where,
        required: where === 'path' || !absent.success,
        schema: absent.data === undefined ? schema : { ...schema, default: absent.data },
      }
    })
  const pathShape = Object.fromEntries(
    Object.entries(params).map(([name, { schema }]) => [name, schema]),
  )
  return {
    operationId,
    summary,
    tags: [path.split('/')[1]],
    description: `Access: ${ruleOf(access)?.summary ?? access}`,
    security: access === 'public' ? [] : [{ bearer: [] }],
    parameters: [
      ...fields('path', pathShape),
      ...fields('query', query),
      ...fields('header', { ...headers, ...(route.isShared && ageHeaders) }),
    ],
    ...(body.type !== 'none' && {
      requestBody: {
        required: !body.optional,
        content: {
          [body.type]: { schema: body.schema ? schemaOf(body.schema, 'input', into) : {} },
        },
      },
    }),
    responses: {
      [status]: {
        description: status === 201 ? 'Created' : 'OK',
        content: {
          ...contentOf(returns, into),
          ...(route.streams && contentOf(EventStream, into)),
        },
      },
      ...refusalsOf(route, into),
      default: { $ref: '#/components/responses/Refused' },
    },
  }
}

/** Documents refusals that differ from the common format; other causes of the same status have that one. */
const refusalsOf = ({ refusals = {} }: Route, into: Json): Json =>
  Object.fromEntries(
    Object.entries(refusals).map(([status, type]) => {
      const [media, { schema }] = Object.entries(contentOf(type, into))[0] as [string, Json]
      const common = { $ref: '#/components/schemas/Refusal' }
      const content =
        media === JSON_MEDIA
          ? { [media]: { schema: { anyOf: [common, schema] } } }
          : { [JSON_MEDIA]: { schema: common }, [media]: { schema } }
      return [status, { description: 'Refused.', content }]
    }),
  )

const JSON_MEDIA = 'application/json'
/** Media types of schemas that are no JSON. */
const MEDIA: Record<string, string> = { EventStream: 'text/event-stream', Page: 'text/html' }

function contentOf(returns: z.ZodType, into: Json): Record<string, Json> {
  const media = MEDIA[returns.meta()?.id ?? ''] ?? JSON_MEDIA
  return { [media]: { schema: schemaOf(returns, 'output', into) } }
}

/** Converts a schema to JSON Schema 2020-12; a schema with an id goes into the components. */
function schemaOf(type: z.ZodType, io: 'input' | 'output', into: Json): Json {
  const { $defs, $schema, ...schema } = z.toJSONSchema(type, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { wire, examples } = (z.globalRegistry.get(zodSchema) ?? {}) as {
        wire?: Json
        examples?: unknown[]
      }
      // The conversion drops them where a part of the schema transforms its value, such as a payload.
      if (examples) jsonSchema.examples = examples
      // Query values are text in a URL; `wire` has the type that they represent.
      if (!wire) return
      for (const key of ['pattern', 'wire', 'type', 'pipe']) delete jsonSchema[key as 'type']
      Object.assign(jsonSchema, wire)
    },
  })
  const refer = (value: unknown): Json =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'))
  for (const [name, definition] of Object.entries($defs ?? {})) into[name] = refer(definition)
  const id = type.meta()?.id
  if (!id) return refer(schema)
  // A recursive schema is among its own definitions already.
  if (!schema.$ref) into[id] = refer(schema)
  return { $ref: `#/components/schemas/${id}` }
}
