import type { Node } from 'web-tree-sitter'

interface ImportedName {
  /** Local name; absent for `*`. */
  name?: string
  /** Dotted path that the name refers to. */
  path: string
  /** Entry in the list of imports: a module, or a module and the imported name. */
  listed: string
}

/** Reads an import statement. A relative module keeps its leading dots in `path`, not in `listed`. */
export function importsOf(statement: Node): ImportedName[] {
  const names = statement.childrenForFieldName('name').map(nameAndAlias)
  if (statement.type === 'import_statement') {
    return names.map(({ name, alias }) => ({
      // `import a.b` binds `a`; `import a.b as c` binds `c` to a.b.
      name: alias ?? (name.split('.')[0] as string),
      path: alias ? name : (name.split('.')[0] as string),
      listed: name,
    }))
  }
  const module = moduleOf(statement)
  const listed = module.replace(/^\.+/, '')
  const within = (name: string) => (listed ? `${listed}.${name}` : name)
  if (statement.namedChildren.some((child) => child.type === 'wildcard_import')) {
    return [{ path: module, listed: within('*') }]
  }
  return names.map(({ name, alias }) => ({
    name: alias ?? name,
    path: `${module}.${name}`,
    listed: within(name),
  }))
}

function moduleOf(statement: Node): string {
  if (statement.type === 'future_import_statement') return '__future__'
  return toDottedPath(statement.childForFieldName('module_name')?.text ?? '')
}

function nameAndAlias(node: Node): { name: string; alias: string | undefined } {
  const name = node.childForFieldName('name') ?? node
  return {
    name: toDottedPath(name.text),
    alias: node.childForFieldName('alias')?.text.normalize('NFKC'),
  }
}

/** Removes the blanks and line joins that may surround the dots. */
const toDottedPath = (text: string) => text.replace(/[\s\\]+/g, '').normalize('NFKC')
