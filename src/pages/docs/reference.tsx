/** Page of the API reference: its text, which the renderer replaces once it has drawn this instance's description. */
import { assetUrl } from '../assets.ts';
import type { GuideEntry, OutlineTag } from './docs.ts';
import { renderReferenceFrame } from './frame.tsx';

export function renderReference(guides: readonly GuideEntry[], outline: readonly OutlineTag[]): string {
  return renderReferenceFrame('API reference', {
    guides,
    here: '/docs/reference',
    children: (
      <main id="content">
        <h1 id="title">API reference</h1>
        <div id="outline">
          <p class="with-script">Parameters, bodies and forms to try each call are loading.</p>
          <p class="without-script">
            Parameters and bodies are in <a href="/openapi.yaml?part=all">openapi.yaml</a>; trying a call here needs
            JavaScript.
          </p>
          <p>
            An operation lists the errors that only it has;{' '}
            <a href="/docs/guides/errors-and-limits">Errors and limits</a> has those that any may answer.
          </p>
          {outline.map((tag) => (
            <Tag key={tag.name} {...tag} />
          ))}
        </div>
        <div id="reference" data-renderer={assetUrl('reference.js')} />
      </main>
    ),
  });
}

function Tag({ name, sentence, operations }: OutlineTag) {
  return (
    <section>
      <h2>{name}</h2>
      <p>{sentence}</p>
      {operations.map(({ id, summary, call, html }) => (
        <article key={id} id={id}>
          <h3>{summary}</h3>
          <p>
            <code>{call}</code>
          </p>
          <div dangerouslySetInnerHTML={{ __html: html }} />
        </article>
      ))}
    </section>
  );
}
