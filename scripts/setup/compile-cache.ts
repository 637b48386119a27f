import path from 'node:path'
import { PROJECT } from '../bootstrap/data-dir.mjs'

/**
 * Folder in which Node 22 and later keep compiled code from one start of a service to the next; earlier
 * versions ignore it. Each build removes it, because nothing else removes what is outdated.
 */
export const COMPILE_CACHE = path.join(PROJECT, 'dist/compile-cache')
