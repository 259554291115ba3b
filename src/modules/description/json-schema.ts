/** Converts schemas to JSON Schema of OpenAPI 3.1: drops our own keywords and turns each `$id` into a reference. */
import type { TSchema } from '@sinclair/typebox';
import type { Components } from './components.ts';
import { exampleValue } from './example-values.ts';

type Node = Record<string, unknown>;

/** Position in a schema: the enclosing named schema and the property. */
interface Place {
  readonly context: string;
  readonly property: string;
}

/** @param context selects example values if the schema has no name: the operation’s id. */
export function jsonSchema(schema: TSchema, components: Components, context = ''): object {
  return convert(JSON.parse(JSON.stringify(schema)), components, { context, property: '' }) as object;
}

function convert(node: unknown, components: Components, place: Place): unknown {
  if (Array.isArray(node)) return node.map((item) => convert(item, components, place));
  if (typeof node !== 'object' || node === null) return node;
  const { remedy: _, isAnyText: __, described, describedFormat, $id, ...others } = node as Node;
  if (described !== undefined) return convert(described, components, place);
  if (describedFormat !== undefined) others['format'] = describedFormat;
  // Enum and const are sufficient; client generators fail on an additional pattern.
  if (Array.isArray(others['enum']) || others['const'] !== undefined) delete others['pattern'];
  const inside = typeof $id === 'string' ? { context: $id, property: '' } : place;
  const converted = alternatives(
    Object.fromEntries(
      Object.entries(others).map(([key, value]) => [key, convertUnder(key, value, components, inside)]),
    ),
    Array.isArray(others['anyOf']) && others['anyOf'].every(hasConstant),
  );
  if (typeof $id !== 'string') return withExample(converted, place);
  const { description, default: byDefault, deprecated, ...schema } = converted;
  const ofUse = Object.fromEntries(
    Object.entries({ description, default: byDefault, deprecated }).filter(([, value]) => value !== undefined),
  );
  return { ...components.share('schemas', $id, schema), ...ofUse };
}

/** Property names are not keywords, even if spelled like one. */
function convertUnder(key: string, value: unknown, components: Components, place: Place): unknown {
  if (key === 'examples' || key === 'default' || key === 'const') return value;
  if (key !== 'properties') return convert(value, components, place);
  return Object.fromEntries(
    Object.entries(value as Node).map(([property, schema]) => [
      property,
      convert(schema, components, { ...place, property }),
    ]),
  );
}

const SAYS_ITSELF = ['examples', 'enum', 'const', 'default'];

/** Adds the example of its property to a string or number without one. */
function withExample(schema: Node, { context, property }: Place): Node {
  const { type, format } = schema;
  const isLeaf = type === 'string' || type === 'integer' || type === 'number';
  if (!isLeaf || format === 'binary' || SAYS_ITSELF.some((keyword) => keyword in schema)) return schema;
  const value = exampleValue(context, property);
  return value === undefined || typeof value !== (type === 'string' ? 'string' : 'number')
    ? schema
    : { ...schema, examples: [value] };
}

/** Writes a nullable plain type as a type list, and alternatives told apart by a constant as `oneOf`. */
function alternatives({ anyOf, ...rest }: Node, isVerdict: boolean): Node {
  if (!Array.isArray(anyOf)) return rest;
  const others = (anyOf as Node[]).filter(({ type }) => type !== 'null');
  const [only] = others;
  const isNullable = others.length < anyOf.length;
  if (isNullable && only && others.length === 1 && typeof only['type'] === 'string' && !only['enum'])
    return { ...only, ...rest, type: [only['type'], 'null'] };
  return { ...rest, [isVerdict ? 'oneOf' : 'anyOf']: anyOf };
}

function hasConstant({ properties }: Node): boolean {
  return Object.values((properties ?? {}) as Record<string, Node>).some((property) => property['const'] !== undefined);
}
