/** Builds a tool's arguments from an operation's path, query and body, and turns them back into a request. */
import { AppError, type FieldProblem } from '../../core/error.ts';
import type { InternalCall } from '../../http/internal-calls.ts';
import { type Operation, WORKSPACE_PARAMETER } from '../../http/operation.ts';
import { Components } from '../description/components.ts';
import { jsonSchema } from '../description/json-schema.ts';
import { describedParameters } from '../description/parameters.ts';

type Schema = Readonly<Record<string, unknown>>;

export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
}

/** A tool's arguments as one JSON schema, and the names that go into path and query. */
export interface Arguments {
  readonly schema: ObjectSchema;
  readonly inPath: readonly string[];
  readonly inQuery: readonly string[];
}

/** A parameter of the OpenAPI description, its references not resolved yet. */
interface Described {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

/** @param own the tool's own schemas, which add to or replace those of the operation. */
export function argumentsOf(operation: Operation, own: Readonly<Record<string, Schema>>): Arguments {
  const components = new Components();
  const parameters = describedParameters(operation, components);
  const body = operation.body && jsonSchema(operation.body, components, operation.id);
  const parts = components.sorted();
  const described = parameters.map((parameter) => resolved(parameter, parts) as Described);
  const fields = resolved(body ?? {}, parts) as Partial<ObjectSchema>;
  const taken = described.filter(({ in: place }) => place === 'path' || place === 'query');
  const properties = [
    ...taken.map(({ name, in: place, description, schema }) => {
      // A path id is described by the resource it identifies.
      const words = place === 'path' ? PATH_WORDS[name] : description;
      return [name, { ...schema, ...(words !== undefined && { description: words }) }] as const;
    }),
    ...Object.entries(fields.properties ?? {}),
  ];
  const twice = properties.find(([name], index) => properties.findIndex(([other]) => other === name) < index);
  if (twice) throw new Error(`${operation.id} takes ${twice[0]} in two places: it cannot be a tool`);
  const required = [
    ...taken.filter((parameter) => parameter.required).map(({ name }) => name),
    ...(operation.isBodyOptional ? [] : (fields.required ?? [])),
  ];
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(
        [...properties, ...Object.entries(own)].map(([name, schema]) => [name, short(schema)]),
      ) as ObjectSchema['properties'],
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
    inPath: taken.filter(({ in: place }) => place === 'path').map(({ name }) => name),
    inQuery: taken.filter(({ in: place }) => place === 'query').map(({ name }) => name),
  };
}

/** Returns the schema with every `$ref` inlined. */
function resolved(node: unknown, parts: Readonly<Record<string, Readonly<Record<string, object>>>>): unknown {
  if (Array.isArray(node)) return node.map((item) => resolved(item, parts));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, ...rest } = node as Record<string, unknown>;
  const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, resolved(value, parts)]));
  if (typeof $ref !== 'string') return own;
  const [, , kind = '', name = ''] = $ref.split('/');
  return { ...(resolved(parts[kind]?.[name], parts) as object), ...own };
}

/** Keeps what a client needs to fill in a call. The operation validates fully, and its errors say how to correct it. */
function short(node: unknown, isNames = false): unknown {
  if (Array.isArray(node)) return node.map((item) => short(item));
  if (typeof node !== 'object' || node === null) return node;
  const isNeeded = (key: string, value: unknown) =>
    !(key === 'additionalProperties' ? value === false : NOT_NEEDED.has(key));
  const kept = Object.entries(node).filter(([key, value]) => isNames || isNeeded(key, value));
  return withTypeList(
    Object.fromEntries(kept.map(([key, value]) => [key, short(value, key === 'properties' && !isNames)])),
  );
}

/** Writes a nullable named schema, whose reference is inlined by now, as a type list. */
function withTypeList(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [only, none] = anyOf as readonly Schema[];
  const isPlain = typeof only?.['type'] === 'string' && only['enum'] === undefined;
  return isPlain && none?.['type'] === 'null' ? { ...only, ...rest, type: [only['type'], 'null'] } : schema;
}

const PATH_WORDS: Readonly<Record<string, string>> = { id: 'Application, app_…' };

const NOT_NEEDED = new Set([
  'examples',
  'pattern',
  'patternProperties',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'title',
]);

const UNKNOWN = 'This argument is not known here; remove it.';
const MISSING = 'This argument is required.';
const NO_TEXT = 'Give a text.';
const MOST_NAMED = 20;

/** Turns a call's arguments, without those for the tool itself, into a request. @throws {AppError} invalid_request */
export function requestOf(operation: Operation, { schema, inPath, inQuery }: Arguments, given: Schema): InternalCall {
  const fields: FieldProblem[] = [];
  const known = (name: string) => Object.hasOwn(schema.properties, name);
  for (const name of Object.keys(given)) {
    if (fields.length === MOST_NAMED) break;
    if (!known(name)) fields.push({ path: name, message: UNKNOWN });
  }
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => {
    const { [name]: value } = given;
    if (value === undefined) fields.push({ path: name, message: MISSING });
    else if (!isSegment(value)) fields.push({ path: name, message: NO_TEXT });
    else return encodeURIComponent(value);
    return '';
  });
  const query = new URLSearchParams();
  for (const name of inQuery) {
    const { [name]: value } = given;
    if (value === undefined || value === null) continue;
    if (typeof value === 'object') fields.push({ path: name, message: NO_TEXT });
    else query.set(name, String(value));
  }
  if (fields.length > 0) throw new AppError('invalid_request', { fields: fields.slice(0, MOST_NAMED) });
  const elsewhere = new Set([...inPath, ...inQuery, WORKSPACE_PARAMETER]);
  const body = Object.fromEntries(Object.entries(given).filter(([name]) => !elsewhere.has(name)));
  return {
    method: operation.method,
    path: query.size > 0 ? `${path}?${query}` : path,
    ...(operation.body && { body }),
  };
}

/** Accepts one path segment; `.` and `..` would resolve to another operation. */
function isSegment(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value !== '.' && value !== '..' && value.isWellFormed();
}
