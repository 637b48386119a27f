/**
 * Allowed imports between packages and between the folders of a service. A layer
 * imports its own and lower ones; files directly in `src/` that no layer names are in the layer
 * `root`. Biome keeps I/O out of `domain/` and SQL drivers out of services (biome.json).
 */

/** From the top to the bottom: folders and files below `src/`. */
type Layers = string[][]

const SERVICE: Layers = [
  ['main', 'migrate'],
  ['server'],
  ['handlers', 'loops', 'streams', 'events', 'access'],
  ['root', 'engine'],
  ['store'],
  ['domain', 'metrics'],
]

const SERVICES: Record<string, Layers> = {
  // http/ is both ends: the server above the routes, and what they speak HTTP with below all
  gateway: [
    ['main'],
    ['server'],
    ['http/start-server', 'http/router', 'http/handle'],
    ['routes'],
    ['live'],
    ['route'],
    ['access'],
    ['cache', 'clients', 'root'],
    ['http'],
    ['domain', 'metrics'],
  ],
  identity: [['main', 'migrate', 'create-admin-key'], ...SERVICE.slice(1)],
  mcp: [['main'], ['server', 'stdio'], ['http'], ['mcp-server', 'tools'], ['root']],
}

/** Workspace packages that each package may import; a service is not a package. */
const PACKAGES: Record<string, string[]> = {
  proto: [],
  runtime: ['proto'],
  domain: ['proto', 'runtime'],
  rpc: ['proto', 'runtime', 'domain'],
  'api-client': ['proto', 'runtime', 'domain'],
  'python-analysis': ['proto', 'runtime', 'domain'],
  cli: ['proto', 'runtime', 'domain', 'rpc', 'api-client'],
  console: ['runtime', 'domain', 'api-client'],
  testcontainers: ['api-client'],
  testkit: ['proto', 'runtime', 'domain', 'rpc', 'api-client'],
}

/** Packages that every service may import. */
const FOR_SERVICES = ['proto', 'runtime', 'domain', 'rpc', 'api-client', 'python-analysis']

const isTest = (file: string) => /\.test(?:-d)?\.\w+$/.test(file)

/** Name of the workspace package or service of a file, or undefined outside of them. */
const packageOf = (file: string) =>
  /^(?:services|packages)\/([\w-]+)\/src\/|^(proto)\/gen\//.exec(file)?.slice(1).find(Boolean)

/** Layer of a file of a service: its index, 0 at the top, and its name. A file is looked up before its folder. */
function layerOf(file: string) {
  const [, service = '', path = ''] = /^services\/([\w-]+)\/src\/(.+)\.\w+$/.exec(file) ?? []
  const layers = SERVICES[service] ?? SERVICE
  const [folder = 'root'] = path.includes('/') ? path.split('/') : []
  const names = [path, folder, 'root']
  const name = names.find((wanted) => layers.flat().includes(wanted)) ?? 'root'
  return { name, rank: layers.findIndex((layer) => layer.includes(name)) }
}

/** Reason why an import of another package is not allowed, or undefined. */
function refusePackage(file: string, from: string, to: string): string | undefined {
  const allowed = file.startsWith('services/') ? FOR_SERVICES : (PACKAGES[from] ?? [])
  return allowed.includes(to) ? undefined : `${from} must not import ${to}`
}

/**
 * Reason why a file must not import another, or undefined if it may. Tests may import anything, but
 * those of a package no service.
 */
export function refuseImport(file: string, target: string): string | undefined {
  if (file.startsWith('packages/') && target.startsWith('services/'))
    return 'a package must not import a service'
  const [from, to] = [packageOf(file), packageOf(target)]
  if (from === undefined || isTest(file)) return undefined
  if (to === undefined) return `${from} must not import ${target}`
  if (from !== to) return refusePackage(file, from, to)
  if (!file.startsWith('services/')) return undefined
  const [upper, lower] = [layerOf(file), layerOf(target)]
  return lower.rank < upper.rank ? `${upper.name} must not import ${lower.name}` : undefined
}
