/** Start page of the documentation: all guides, and the machine-readable descriptions. */
import type { GuideEntry } from './docs.ts';
import { guidePath, renderDocs } from './frame.tsx';

const DESCRIPTIONS = [
  { href: '/docs/reference', title: 'API reference', what: 'Every operation, with requests to try on this instance.' },
  {
    href: '/openapi.yaml',
    title: 'openapi.yaml',
    what: 'The OpenAPI description, to generate clients from; also as JSON.',
  },
  { href: '/openapi.roles.json', title: 'openapi.roles.json', what: 'Which principal each operation needs.' },
  { href: '/llms.txt', title: 'llms.txt', what: 'The table of contents for agents; each guide is Markdown at .md.' },
];

export function renderOverview(guides: readonly GuideEntry[], baseUrl: string): string {
  return renderDocs('Overview', {
    guides,
    here: '/docs',
    children: (
      <main id="content" class="overview">
        <h1>Documentation</h1>
        <p class="lead">
          Sign-in and user management in one file. This server provides these pages for its own version. The examples
          use its address, <code>{baseUrl}</code>, and can be copied and run.
        </p>
        {[...Map.groupBy(guides, ({ group }) => group)].map(([group, ofGroup]) => (
          <section key={group}>
            <h2>{group}</h2>
            <ul class="cards">
              {ofGroup.map(({ slug, title, summary }) => (
                <Card key={slug} href={guidePath(slug)} title={title} what={summary} />
              ))}
            </ul>
          </section>
        ))}
        <section>
          <h2>Reference</h2>
          <ul class="cards">
            {DESCRIPTIONS.map((one) => (
              <Card key={one.href} {...one} />
            ))}
          </ul>
        </section>
      </main>
    ),
  });
}

function Card({ href, title, what }: { readonly href: string; readonly title: string; readonly what: string }) {
  return (
    <li class="card">
      <a href={href}>{title}</a>
      <p>{what}</p>
    </li>
  );
}
