/** Offers the owner an API key of the workspace, and says when one was made before. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { sinceText } from '../account/words.ts';
import { post, read } from '../browser/api.ts';
import { Button } from '../components/button.tsx';
import { CopySample } from '../components/copy-sample.tsx';
import { failureText } from '../components/failure-text.ts';
import { FieldError } from '../components/field.tsx';
import { useTexts } from '../components/texts.tsx';

interface EarlierKey {
  readonly prefix: string;
  readonly createdAt: string;
  readonly revokedAt: string | null;
}

const PATH = '/api/workspace/api-keys';

/** Authenticated by the cookie that the setup has set. */
export function ApiKeyPart() {
  const text = useTexts();
  const [key, setKey] = useState<string | null>(null);
  const [earlier, setEarlier] = useState<EarlierKey | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isAtWork, setIsAtWork] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (key) heading.current?.focus();
  }, [key]);
  // A key that was made before a reload is not made again unawares.
  useEffect(() => {
    void read<{ items: EarlierKey[] }>(`${PATH}?source=api&limit=20`).then((outcome) => {
      if (outcome.ok) setEarlier(outcome.data.items.find(({ revokedAt }) => revokedAt === null) ?? null);
    });
  }, []);

  async function createKey(): Promise<void> {
    if (isAtWork) return;
    setIsAtWork(true);
    setError(null);
    const outcome = await post<{ token: string }>(PATH, { name: text('signin.setup.keyName'), access: 'full' });
    setIsAtWork(false);
    if (outcome.ok) setKey(outcome.data.token);
    else setError(failureText(text, outcome));
  }

  return (
    <section class="part" aria-labelledby="key-title">
      <h2 id="key-title" tabIndex={-1} ref={heading}>
        {text(key === null ? 'signin.setup.keyTitle' : 'signin.setup.keyReady')}
      </h2>
      {key === null ? (
        <>
          <p class="lead" id="key-lead">
            {text('signin.setup.keyLead')}
          </p>
          {earlier && (
            <p class="note" id="earlier-key">
              {text.rich('signin.setup.keyMade', {
                ago: sinceText(text, earlier.createdAt),
                key: <code translate={false}>{earlier.prefix}…</code>,
              })}
            </p>
          )}
          <FieldError id="key" error={error} />
          <Button
            id="create-key"
            look="plain"
            busyText={isAtWork && text('signin.setup.creatingKey')}
            onClick={() => void createKey()}
          >
            {text(earlier ? 'signin.setup.anotherKey' : 'signin.setup.createKey')}
          </Button>
        </>
      ) : (
        <KeyMade apiKey={key} />
      )}
    </section>
  );
}

function KeyMade({ apiKey }: { apiKey: string }) {
  const text = useTexts();
  const example = `curl ${location.origin}/api/applications \\\n  -H 'Authorization: Bearer ${apiKey}'`;
  return (
    <div id="key-result">
      <CopySample id="key" label={text('signin.setup.copyKey')} content={apiKey} />
      <p class="hint">{text('signin.setup.keyWarning')}</p>
      <h3 id="example-title">{text('signin.setup.example')}</h3>
      <CopySample id="example" label={text('signin.setup.copyExample')} content={example} />
    </div>
  );
}
