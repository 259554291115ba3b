/** Search index of the documentation: guides by section, error codes, settings and events by row, and operations. */
import MiniSearch from 'minisearch';
import { DOCS_INDEX } from '../../core/docs-terms.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import type { Operation } from '../../http/operation.ts';
import { documented } from '../description/openapi.ts';
import { pathTemplate } from '../description/mounted.ts';
import type { Guide } from './guides.ts';
import { plain, renderMarkdown } from './markdown.ts';
import { referencePath } from './reference-path.ts';

interface Findable {
  readonly id: number;
  readonly title: string;
  /** The guide of a section, or the kind of entry. */
  readonly place: string;
  readonly href: string;
  readonly text: string;
  /** Factor of its rank: prose explains, and an operation or a row answers one question. */
  readonly weight: number;
}

type Entry = Omit<Findable, 'id'>;

const PAGE_WEIGHT = 1.2;
/** Factor of a subsection, such as one of many products. */
const PART_WEIGHT = 0.6;
const OPERATION_WEIGHT = 0.6;
const ROW_WEIGHT = 0.5;
/** Guides for those who build come first. */
const GROUP_WEIGHTS: Readonly<Record<string, number>> = { Run: 0.7, 'Look up': 0.8 };
const ENTRIES_A_STEP = 50;

/** Kind of the rows in a guide's generated tables. */
const ROWS: Readonly<Record<string, string>> = {
  settings: 'Setting',
  'errors-and-limits': 'Error code',
  events: 'Event',
};

/** Returns the index as JSON, built in steps that let other requests pass. */
export async function searchIndex(guides: readonly Guide[], operations: readonly Operation[]): Promise<string> {
  const index = new MiniSearch<Findable>(DOCS_INDEX);
  let id = 0;
  const add = async (entries: readonly Entry[]) => {
    for (const entry of entries) {
      index.add({ id, ...entry });
      if (++id % ENTRIES_A_STEP === 0) await yieldToEventLoop();
    }
  };
  for (const guide of guides) {
    await add(entriesOf(guide));
    await yieldToEventLoop();
  }
  await add(documented(operations).map(operationEntry));
  return JSON.stringify(index);
}

const ROW = /<tr id="([\w.]+)">(.*?)<\/tr>/gs;

function entriesOf({ slug, title, text, group }: Guide): Entry[] {
  const href = `/docs/guides/${slug}`;
  const kind = ROWS[slug];
  const weight = GROUP_WEIGHTS[group] ?? 1;
  const { html, sections } = renderMarkdown(text);
  const rows: Entry[] = [];
  const prose =
    kind === undefined
      ? html
      : html.replace(ROW, (_, id: string, row: string) => {
          rows.push({ title: id, place: kind, href: `${href}#${id}`, text: textOf(row), weight: ROW_WEIGHT });
          return '';
        });
  const [lead = '', ...parts] = prose.split(/(?=<h[23] id=")/);
  return [
    { title, place: 'Guide', href, text: textOf(lead), weight: weight * PAGE_WEIGHT },
    ...sections.map((section, at) => ({
      title: section.title,
      place: title,
      href: `${href}#${section.id}`,
      text: textOf((parts[at] ?? '').replace(/^<h.*?<\/h[23]>/s, '')),
      weight: weight * (section.level > 2 ? PART_WEIGHT : 1),
    })),
    ...rows,
  ];
}

function operationEntry(operation: Operation): Entry {
  const { id, tag, summary, description = '', body, query } = operation;
  const fields = [body, query].flatMap((schema) => Object.keys(schema?.['properties'] ?? {}));
  return {
    title: summary,
    place: `${operation.method} ${pathTemplate(operation)}`,
    href: referencePath(operation),
    text: [id, tag, description, ...fields].join(' '),
    weight: OPERATION_WEIGHT,
  };
}

/** Returns the text of HTML, whose blocks are apart. */
function textOf(html: string): string {
  return plain(html.replace(/<(?:br|\/?(?:p|li|td|th|h\d|pre))\b/g, ' $&'));
}
