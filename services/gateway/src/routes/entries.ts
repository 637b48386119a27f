import { entryNameOf } from '@windlass/domain/names'
import { Fault } from '@windlass/runtime/faults'
import { z } from 'zod'
import { readNames } from '../domain/entries.ts'
import { JsonText } from '../domain/views.ts'
import type { RequestContext } from '../http/request-context.ts'
import { json, jsonSlices } from '../route/body.ts'
import type { Param } from '../route/fields.ts'

/** A name in a path; one that does not match the grammar is not found. */
export const entryName: Param = {
  schema: z.string(),
  read(text) {
    const name = entryNameOf(text)
    if (name === undefined) throw new Fault('not_found', 'Not Found')
    return name
  },
}

const isValue = (value: unknown) => value instanceof JsonText && value.text !== 'null'

/** Body that creates or replaces a secret or a config. The value stays text. */
export const newEntry = json(
  z
    .object({
      name: z
        .string()
        .refine(
          (name) => entryNameOf(name) !== undefined,
          'must be 1 to 255 printable characters without /',
        )
        .transform((name) => name.normalize('NFC')),
      value: z
        .unknown()
        .refine(isValue, 'must be there and not null')
        .transform((value) => value as JsonText),
    })
    .meta({ id: 'NewEntry' }),
  { payloads: ['value'] },
)

export const names = jsonSlices(z.array(z.string()).max(100), readNames)

export const EntryView = z.object({ name: z.string(), value: z.unknown() }).meta({ id: 'Entry' })

export const Values = z.record(z.string(), z.unknown()).meta({ id: 'Values' })

/** Forbids caches to store the response. */
export const unkept = ({ responseHeaders }: RequestContext) =>
  responseHeaders.push('cache-control', 'no-store')
