/** Leaves out of the description what clients derive themselves, and what it says once for all operations. */

interface Parts {
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly webhooks: object;
}

interface Described {
  readonly parameters?: object;
  readonly requestBody?: object;
  readonly responses: object;
}

const REFERENCE = /"#\/components\/(\w+)\/([\w.-]+)"/g;

/**
 * Removes the examples of answers and events, a tenth of the document, and `additionalProperties: false`. Examples of
 * parameters and request bodies stay, since people send them as they are.
 */
export function withoutObvious<Document extends Parts>(document: Document): Document {
  const { components, paths, webhooks } = open(document) as Document;
  const sent = new Set<string>();
  const note = (part: unknown) => {
    for (const [, kind = '', name = ''] of JSON.stringify(part).matchAll(REFERENCE)) {
      if (sent.has(`${kind} ${name}`)) continue;
      sent.add(`${kind} ${name}`);
      note(components[kind]?.[name]);
    }
  };
  for (const methods of Object.values(paths))
    for (const { parameters = {}, requestBody = {} } of Object.values(methods) as Described[])
      note([parameters, requestBody]);
  const kept = ['responses', 'headers', 'securitySchemes'];
  return {
    ...document,
    paths: mapValues(paths, (methods) =>
      mapValues(methods, (operation) => ({
        ...operation,
        responses: withoutExamples((operation as Described).responses),
      })),
    ),
    webhooks: withoutExamples(webhooks),
    components: mapValues(components, (parts, kind) =>
      mapValues(parts, (part, name) =>
        kept.includes(kind) || sent.has(`${kind} ${name}`) ? part : (withoutExamples(part) as object),
      ),
    ),
  };
}

/** Removes `additionalProperties: false`: every body with an unknown property is refused, as the description says once. */
function open(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(open);
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part)
      .filter(([key, value]) => key !== 'additionalProperties' || value !== false)
      .map(([key, value]) => [key, open(value)]),
  );
}

/** Leaves properties named `examples` alone. */
function withoutExamples(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutExamples);
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part)
      .filter(([key, value]) => key !== 'examples' || !Array.isArray(value))
      .map(([key, value]) => [key, withoutExamples(value)]),
  );
}

function mapValues<Value, To>(record: Readonly<Record<string, Value>>, map: (value: Value, name: string) => To) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
