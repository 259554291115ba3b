/** The paths of the document, made by Elysia's plugin from operations mounted on an instance that serves nothing else. */
import { type ElysiaSwaggerConfig, swagger } from '@elysiajs/swagger';
import { type DocumentDecoration, Elysia } from 'elysia';
import { required } from '../../core/required.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Operation } from '../../http/operation.ts';

const PATH = '/document';

export interface DescribedOperation {
  readonly operation: Operation;
  readonly detail: DocumentDecoration;
}

/** What the plugin makes, as far as anything is done with it. */
interface MadeDocument {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly object[];
  readonly tags: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentDecoration>>>>;
}

/** So many are described in one turn of the loop. */
const OPERATIONS_AT_ONCE = 4;

/** @param documentation without components: the plugin knows those of OpenAPI 3.0 alone. */
export async function mountedDocument(
  described: readonly DescribedOperation[],
  documentation: NonNullable<ElysiaSwaggerConfig['documentation']>,
): Promise<MadeDocument> {
  const parts: MadeDocument[] = [];
  for (let start = 0; start < described.length; start += OPERATIONS_AT_ONCE) {
    parts.push(await made(described.slice(start, start + OPERATIONS_AT_ONCE), documentation));
    await nextTurn();
  }
  const paths: Record<string, Record<string, DocumentDecoration>> = {};
  for (const part of parts)
    for (const [path, methods] of Object.entries(part.paths))
      paths[path] = { ...paths[path], ...mapValues(methods, withoutRepetition) };
  return { ...required(parts[0], 'an operation to describe'), paths };
}

async function made(
  described: readonly DescribedOperation[],
  documentation: NonNullable<ElysiaSwaggerConfig['documentation']>,
): Promise<MadeDocument> {
  const app = new Elysia().use(swagger({ specPath: PATH, excludeStaticFile: false, documentation }));
  for (const { operation, detail } of described)
    app.route(operation.method, pathTemplate(operation), () => null, { detail });
  const response = await app.handle(new Request(`http://localhost${PATH}`));
  return response.json();
}

/** `/:name.json` as OpenAPI writes it. */
export function pathTemplate({ path }: Operation): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

/** The plugin sees no parameter behind a `$ref` and adds each of the path once more, inline: ours are all by reference. */
function withoutRepetition(detail: DocumentDecoration): DocumentDecoration {
  const own = detail.parameters?.filter((parameter) => !('in' in parameter && parameter.in === 'path'));
  return own ? { ...detail, parameters: own } : detail;
}

function mapValues<Value>(record: Readonly<Record<string, Value>>, map: (value: Value) => Value) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
