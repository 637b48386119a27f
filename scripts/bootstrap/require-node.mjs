// @ts-check
const OLDEST = /** @type {const} */ ([20, 19])

/** Throws unless this Node is new enough. */
export function requireNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return
  throw new Error(`Windlass needs Node.js ${OLDEST.join('.')} or newer; this is ${version}.`)
}
