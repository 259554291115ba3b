/** Page of a guide: content, its sections, and links to the previous and next guide. */
import type { GuideContent, GuideEntry, GuideSection } from './docs.ts';
import { guidePath, renderDocs } from './frame.tsx';

interface GuideProps {
  readonly entry: GuideEntry;
  readonly content: GuideContent;
  readonly guides: readonly GuideEntry[];
  readonly previous: GuideEntry | undefined;
  readonly next: GuideEntry | undefined;
}

export function renderGuide({ entry, content, guides, previous, next }: GuideProps): string {
  return renderDocs(entry.title, {
    guides,
    here: guidePath(entry.slug),
    children: (
      <>
        <main id="content" class="guide">
          <p class="eyebrow">{entry.group}</p>
          <h1>{entry.title}</h1>
          <div class="prose" dangerouslySetInnerHTML={{ __html: content.html }} />
          <nav class="pager" aria-label="Guides before and after">
            {previous && <PagerLink to={previous} word="Previous" rel="prev" />}
            {next && <PagerLink to={next} word="Next" rel="next" />}
          </nav>
          <p class="hint">
            <a href={`${guidePath(entry.slug)}.md`}>This guide as Markdown</a>
          </p>
        </main>
        <OnThisPage sections={content.sections.filter(({ level }) => level === 2)} />
      </>
    ),
  });
}

function PagerLink({
  to,
  word,
  rel,
}: {
  readonly to: GuideEntry;
  readonly word: string;
  readonly rel: 'prev' | 'next';
}) {
  return (
    <a class={rel} href={guidePath(to.slug)} rel={rel}>
      <span>{word}</span>
      {to.title}
    </a>
  );
}

function OnThisPage({ sections }: { readonly sections: readonly GuideSection[] }) {
  if (sections.length < 2) return null;
  return (
    <nav class="on-page" aria-labelledby="on-page">
      <h2 id="on-page">On this page</h2>
      <ul>
        {sections.map(({ id, title }) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
