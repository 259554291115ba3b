/** Shortcuts of every view: `/` goes to its search, `?` lists the keys. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../pages/components/button.tsx';
import { Dialog } from '../../pages/components/dialog.tsx';
import { isKeyForText } from '../components/keys.ts';

const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['Ctrl', 'K'], 'Search everything, or paste an id'],
  [['/'], 'Search the list'],
  [['j', '↓'], 'Next row'],
  [['k', '↑'], 'Previous row'],
  [['←', '→'], 'Move within a row'],
  [['x'], 'Choose a row'],
  [['Enter'], 'Open a row'],
  [['Esc'], 'Close the detail or the dialog'],
  [['?'], 'Show these keys'],
];

/** Returns the list of keys while it is open. */
export function useShortcuts(): ComponentChildren {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isKeyForText(event)) return;
      if (event.key === '?') setIsOpen(true);
      else if (event.key === '/') {
        const search = document.querySelector<HTMLInputElement>('#main input[type=search]');
        search?.focus();
        search?.select();
        if (!search) return;
      } else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  if (!isOpen) return null;
  return (
    <Dialog id="shortcuts" title="Keys" onClose={() => setIsOpen(false)}>
      <dl class="shortcuts">
        {KEYS.map(([keys, meaning]) => (
          <div key={meaning}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-actions">
        <Button look="plain" onClick={() => setIsOpen(false)}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
