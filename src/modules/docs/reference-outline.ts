/** Outline of the API reference, which is readable before its renderer has loaded: each tag’s operations and their errors. */
import type { Operation } from '../../http/operation.ts';
import { pathTemplate } from '../description/mounted.ts';
import { documented, operationText, tagSentence } from '../description/openapi.ts';
import { referencePath } from './reference-path.ts';

export interface ReferenceTag {
  readonly name: string;
  readonly sentence: string;
  readonly operations: readonly {
    /** Fragment of its place in the rendered reference too. */
    readonly id: string;
    readonly summary: string;
    readonly call: string;
    /** Trusted HTML. */
    readonly html: string;
  }[];
}

/** Returns the tags in the order of the description. */
export function referenceOutline(operations: readonly Operation[]): ReferenceTag[] {
  return [...Map.groupBy(documented(operations), ({ tag }) => tag)].map(([name, ofTag]) => ({
    name,
    sentence: tagSentence(name),
    operations: ofTag.map((operation) => ({
      id: referencePath(operation).replace(/^.*#/, ''),
      summary: operation.summary,
      call: `${operation.method} ${pathTemplate(operation)}`,
      html: Bun.markdown.html(operationText(operation)),
    })),
  }));
}
