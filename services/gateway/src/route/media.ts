import { z } from 'zod'

/** An event stream; OpenAPI cannot describe its events. */
export const EventStream = z.string().meta({ id: 'EventStream' })

/** A page for people. */
export const Page = z.string().meta({ id: 'Page' })
