/** Builds the document's paths with Elysia's plugin, from operations mounted on an otherwise unused instance. */
import { type ElysiaSwaggerConfig, swagger } from '@elysiajs/swagger';
import { type DocumentDecoration, Elysia } from 'elysia';
import { required } from '../../core/required.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import type { Operation } from '../../http/operation.ts';

const PATH = '/document';

export interface DescribedOperation {
  readonly operation: Operation;
  readonly detail: DocumentDecoration;
}

interface MadeDocument {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly object[];
  readonly tags: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentDecoration>>>>;
}

/** Operations described before yielding to the event loop. */
const OPERATIONS_AT_ONCE = 4;

/** @param documentation without components: the plugin knows only those of OpenAPI 3.0. */
export async function mountedDocument(
  described: readonly DescribedOperation[],
  documentation: NonNullable<ElysiaSwaggerConfig['documentation']>,
): Promise<MadeDocument> {
  const parts: MadeDocument[] = [];
  for (let start = 0; start < described.length; start += OPERATIONS_AT_ONCE) {
    parts.push(await made(described.slice(start, start + OPERATIONS_AT_ONCE), documentation));
    await yieldToEventLoop();
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

/** Converts `/:name.json` to OpenAPI's `/{name}.json`. */
export function pathTemplate({ path }: Operation): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

/** The plugin does not see path parameters behind a `$ref` and adds them again inline; ours are all references. */
function withoutRepetition(detail: DocumentDecoration): DocumentDecoration {
  const own = detail.parameters?.filter((parameter) => !('in' in parameter && parameter.in === 'path'));
  return own ? { ...detail, parameters: own } : detail;
}

function mapValues<Value>(record: Readonly<Record<string, Value>>, map: (value: Value) => Value) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
