/** Names the schemas that bodies and answers repeat word for word, such as the rate limits of a key, and refers to them. */
import { yieldIfLong } from '../../core/event-loop.ts';
import { pascalCase } from './components.ts';

type Node = Readonly<Record<string, unknown>>;

/** Position in the document: the enclosing operation, event or named schema, and the innermost property. */
interface Place {
  readonly owner: string;
  readonly property: string | null;
}

interface Parts {
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly webhooks: Readonly<Record<string, object>>;
}

/** Length of a reference with a name of usual length. */
const REFERENCE_LENGTH = 45;

/** Following a reference costs a reader something, so that less is not worth it. */
const LEAST_SAVED = 100;

/** Properties whose name says nothing without that of their owner. */
const VAGUE: ReadonlySet<string | null> = new Set([null, 'data', 'filter', 'grants', 'add', 'addItem']);

/** Keywords that describe one use of a schema, and stay beside its reference. */
const OF_USE: ReadonlySet<string> = new Set(['description', 'default']);

const SCHEMA_KEYWORDS = ['type', 'anyOf', 'oneOf', 'allOf', 'enum'];

/** Refers to each repeated schema by a name. Yields to the event loop. */
export async function withSharedSchemas<Document extends Parts>(document: Document): Promise<Document> {
  const schemas: Record<string, object> = { ...document.components['schemas'] };
  const uses = new Map<string, Place[]>();
  await transformed(document, (node, place) => {
    const text = JSON.stringify(ownPart(node));
    uses.set(text, [...(uses.get(text) ?? []), place]);
    return node;
  });
  const names = new Map<string, string>();
  for (const [text, places] of uses) {
    if ((places.length - 1) * text.length - places.length * REFERENCE_LENGTH < LEAST_SAVED) continue;
    const [first = { owner: '', property: null }] = places;
    const name = candidateNames(JSON.parse(text) as Node, first).find((candidate) => !(candidate in schemas));
    if (name === undefined) continue;
    names.set(text, name);
    schemas[name] = {};
  }
  const refer = (node: Node): Node => {
    const name = names.get(JSON.stringify(ownPart(node)));
    if (name === undefined) return node;
    return { $ref: `#/components/schemas/${name}`, ...partOfUse(node) };
  };
  const shared = await transformed(document, refer);
  for (const [text, name] of names) schemas[name] = insideOf(JSON.parse(text) as Node, name, refer);
  const sorted = Object.entries({ ...schemas, ...shared.components['schemas'] }).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...shared, components: { ...shared.components, schemas: Object.fromEntries(sorted) } };
}

function candidateNames(schema: Node, { owner, property }: Place): string[] {
  const [alternative, ...others] = (schema['anyOf'] ?? []) as Node[];
  const nullable = others.length === 1 && others[0]?.['type'] === 'null' && alternative?.['$ref'];
  if (typeof nullable === 'string') return [`${nullable.replace(/^.*\//, '')}OrNull`];
  const name = VAGUE.has(property)
    ? `${pascalCase(owner)}${pascalCase(property ?? 'input')}`
    : pascalCase(property ?? '');
  return [name, `${name}Input`, `${name}Of${pascalCase(owner)}`];
}

type Transform = (node: Node, place: Place) => Node;

/** Applies a change to every schema of the document, the outer before the inner. */
async function transformed<Document extends Parts>(document: Document, change: Transform): Promise<Document> {
  const ofGroup = async (group: Readonly<Record<string, object>>, nameOf: (key: string, part: object) => string) => {
    const parts: [string, object][] = [];
    for (const [key, part] of Object.entries(group)) {
      parts.push([key, inside(part, { owner: nameOf(key, part), property: null }, change) as object]);
      await yieldIfLong();
    }
    return Object.fromEntries(parts);
  };
  const paths: Record<string, Record<string, object>> = {};
  for (const [path, methods] of Object.entries(document.paths))
    paths[path] = await ofGroup(methods, (_, part) => (part as { readonly operationId: string }).operationId);
  const components: Record<string, Record<string, object>> = {};
  for (const [kind, group] of Object.entries(document.components))
    components[kind] = kind === 'securitySchemes' ? { ...group } : await ofGroup(group, (name) => name);
  return { ...document, paths, components, webhooks: await ofGroup(document.webhooks, (name) => name) };
}

/** Transforms what is inside a schema, and not the schema itself, which has a name already. */
function insideOf(schema: Node, owner: string, change: Transform): Node {
  return inside(schema, { owner, property: null }, change) as Node;
}

function inside(part: unknown, place: Place, change: Transform): unknown {
  if (Array.isArray(part)) return part.map((item) => visited(item, place, change));
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (key === 'examples' || key === 'example' || key === 'default' || key === 'enum') return [key, value];
      if (key === 'items') return [key, visited(value, itemOf(place), change)];
      if (key !== 'properties') return [key, visited(value, place, change)];
      const properties = Object.entries(value as Node).map(([property, schema]) => [
        property,
        visited(schema, { ...place, property }, change),
      ]);
      return [key, Object.fromEntries(properties)];
    }),
  );
}

function itemOf({ owner, property }: Place): Place {
  return { owner, property: `${property ?? ''}Item` };
}

function visited(part: unknown, place: Place, change: Transform): unknown {
  return inside(isSchema(part) ? change(part, place) : part, place, change);
}

function isSchema(part: unknown): part is Node {
  if (typeof part !== 'object' || part === null || Array.isArray(part) || '$ref' in part) return false;
  return SCHEMA_KEYWORDS.some((keyword) => keyword in part);
}

function ownPart(schema: Node): Node {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !OF_USE.has(key)));
}

function partOfUse(schema: Node): Node {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => OF_USE.has(key)));
}
