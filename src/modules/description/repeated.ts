/** Shares parts that several operations repeat word for word, such as a body, filter or response. */
import { yieldIfLong } from '../../core/event-loop.ts';
import type { Operation } from '../../http/operation.ts';
import { type Components, type Kind, pascalCase, type Reference } from './components.ts';
import type { DescribedOperation } from './mounted.ts';

type Part = object | Reference;

interface Detail {
  readonly parameters?: readonly Part[];
  readonly requestBody?: Part;
  readonly responses: Readonly<Record<string, Part>>;
}

type Replace = (kind: Kind, part: Part, operation: Operation) => Part;

export async function shareRepeated(
  described: readonly DescribedOperation[],
  components: Components,
): Promise<DescribedOperation[]> {
  const texts = new Map<Part, string>();
  const uses = new Map<string, number>();
  for (const one of described) {
    replaced(one, (kind, part) => {
      const text = `${kind} ${JSON.stringify(part)}`;
      texts.set(part, text);
      uses.set(text, (uses.get(text) ?? 0) + 1);
      return part;
    });
    await yieldIfLong();
  }
  const references = new Map<string, Reference>();
  const shared: DescribedOperation[] = [];
  for (const one of described) {
    shared.push(
      replaced(one, (kind, part, operation) => {
        const text = texts.get(part) ?? '';
        if ('$ref' in part || uses.get(text) === 1) return part;
        const known = references.get(text);
        if (known) return known;
        const name = namesOf(kind, part, operation).find((candidate) => components.isFree(kind, candidate, part));
        const reference = components.share(kind, name ?? pascalCase(operation.id), part);
        references.set(text, reference);
        return reference;
      }),
    );
    await yieldIfLong();
  }
  return shared;
}

function replaced({ operation, detail }: DescribedOperation, replace: Replace): DescribedOperation {
  const { parameters, requestBody, responses } = detail as unknown as Detail;
  const answers = Object.entries(responses).map(
    ([status, part]) => [status, replace('responses', part, operation)] as const,
  );
  const own = {
    ...detail,
    ...(parameters && { parameters: parameters.map((part) => replace('parameters', part, operation)) }),
    ...(requestBody && { requestBody: replace('requestBodies', requestBody, operation) }),
    responses: Object.fromEntries(answers),
  };
  return { operation, detail: own as DescribedOperation['detail'] };
}

/** Returns candidate names: after the content, then after the first operation that uses the part. */
function namesOf(kind: Kind, part: Part, { id, body, data }: Operation): string[] {
  const first = pascalCase(id);
  if (kind === 'parameters') {
    const name = pascalCase((part as { readonly name: string }).name);
    return [name, `${name}Of${first}`];
  }
  if (kind === 'responses') return [`${data?.$id ?? first}Answer`, `${first}Answer`];
  const isEmpty = body?.['properties'] && Object.keys(body['properties']).length === 0;
  return [`${isEmpty ? 'Empty' : (body?.$id ?? first)}Body`, `${first}Body`];
}
