/** Layout of the documentation: search bar, list of guides and content. */
import type { ComponentChildren } from 'preact';
import { Menu, Search } from 'lucide';
import { GateMark, Icon } from '../components/icon.tsx';
import { renderPage } from '../document.tsx';
import type { GuideEntry } from './docs.ts';

interface FrameProps {
  readonly guides: readonly GuideEntry[];
  readonly here: string;
  readonly children: ComponentChildren;
}

export function renderDocs(title: string, frame: FrameProps): string {
  return renderPage({ ...docsDocument(title, frame), style: 'docs.css' });
}

/** Renders the API reference page, whose renderer brings its own style. */
export function renderReferenceFrame(title: string, frame: FrameProps): string {
  return renderPage({ ...docsDocument(title, frame), style: 'docs-reference.css', module: 'docs-reference.js' });
}

function docsDocument(title: string, frame: FrameProps) {
  const body = <DocsFrame {...frame} />;
  return { locale: 'en', title: `${title} · Gatehouse docs`, module: 'docs.js', body } as const;
}

function DocsFrame({ guides, here, children }: FrameProps) {
  return (
    <>
      <a class="skip" href="#content">
        Skip to the text
      </a>
      <header class="bar">
        <a class="home" href="/docs" aria-label="Gatehouse docs">
          <GateMark />
          <span>
            Gatehouse <span class="part">docs</span>
          </span>
        </a>
        <SearchField />
        <div class="bar-links">
          <a href="/docs/reference" aria-current={here === '/docs/reference' ? 'page' : undefined}>
            API reference
          </a>
          <a href="/console">Console</a>
        </div>
        <button class="menu" type="button" popovertarget="contents" aria-label="Contents">
          <Icon of={Menu} />
        </button>
      </header>
      <div class="docs">
        <Contents guides={guides} here={here} />
        {children}
      </div>
    </>
  );
}

/** Shown and filled by the script; hidden without JavaScript. */
function SearchField() {
  return (
    <div class="search" role="search">
      <Icon of={Search} size={16} />
      <input
        id="search"
        type="text"
        role="combobox"
        inputmode="search"
        aria-label="Search guides and operations"
        aria-expanded="false"
        aria-controls="found"
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        placeholder="Search"
      />
      <kbd aria-hidden="true">/</kbd>
      <div id="found" role="listbox" aria-label="Found" hidden />
      <p id="found-none" class="found-none" role="status" hidden />
    </div>
  );
}

function Contents({ guides, here }: Pick<FrameProps, 'guides' | 'here'>) {
  const link = (href: string, title: string) => (
    <li key={href}>
      <a href={href} aria-current={href === here ? 'page' : undefined}>
        {title}
      </a>
    </li>
  );
  return (
    <nav class="guide-list" id="contents" popover="auto" aria-label="Contents">
      <ul>{link('/docs', 'Overview')}</ul>
      {[...Map.groupBy(guides, ({ group }) => group)].map(([group, ofGroup]) => (
        <section key={group}>
          <h2>{group}</h2>
          <ul>{ofGroup.map(({ slug, title }) => link(guidePath(slug), title))}</ul>
        </section>
      ))}
      <section>
        <h2>Reference</h2>
        <ul>
          {link('/docs/reference', 'API reference')}
          {link('/openapi.yaml', 'openapi.yaml')}
          {link('/llms.txt', 'llms.txt')}
        </ul>
      </section>
    </nav>
  );
}

export function guidePath(slug: string): string {
  return `/docs/guides/${slug}`;
}
