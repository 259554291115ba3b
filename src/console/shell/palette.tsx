/** Command palette: finds views, records by name or id, documentation, and actions of the open record. Ctrl+K or ⌘K. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { findEntries } from './find-entries.ts';
import type { Schemas } from '../api.ts';
import { useConsole, useRights } from '../console-context.tsx';
import type { PaletteEntry } from './palette-entry.ts';
import { useFound } from './palette-found.ts';
import { knownEntries, openActions } from './palette-known.ts';

interface PaletteProps {
  readonly application: Schemas['Application'] | null;
  readonly onClose: () => void;
}

const SHOWN = 12;

export function Palette({ application, onClose }: PaletteProps) {
  const context = useConsole();
  const { canWrite } = useRights();
  // Read once: the palette covers what it presses.
  const [actions] = useState(openActions);
  const known = [...actions, ...knownEntries(application, context, canWrite)];
  const [, navigate] = useLocation();
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  const found = useFound(query, application);
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);

  const matching = query.trim() === '' ? known.slice(0, SHOWN) : findEntries(known, query, SHOWN);
  const entries = [...matching, ...found.filter(({ id }) => !matching.some((entry) => entry.id === id))];
  const at = Math.min(chosen, entries.length - 1);
  useEffect(() => document.getElementById(`palette-${at}`)?.scrollIntoView({ block: 'nearest' }), [at]);

  function go(entry: PaletteEntry | undefined): void {
    if (!entry) return;
    onClose();
    if (entry.href !== undefined) navigate(entry.href);
    // After the dialog has closed and given back the focus.
    else setTimeout(() => entry.run?.());
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'ArrowDown') setChosen((at + 1) % Math.max(entries.length, 1));
    else if (event.key === 'ArrowUp') setChosen((at - 1 + entries.length) % Math.max(entries.length, 1));
    else if (event.key === 'Enter') go(entries[at]);
    else return;
    event.preventDefault();
  }

  return (
    <dialog
      class="palette"
      id="palette"
      ref={dialog}
      aria-label="Search and go"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <input
        id="palette-query"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-entries"
        aria-activedescendant={entries.length > 0 ? `palette-${at}` : undefined}
        aria-label="Search views, records, documentation and actions"
        placeholder="Search or paste an id"
        autocomplete="off"
        spellcheck={false}
        autoFocus
        value={query}
        onKeyDown={onKeyDown}
        onInput={({ currentTarget }) => {
          setQuery(currentTarget.value);
          setChosen(0);
        }}
      />
      <ul id="palette-entries" role="listbox" aria-label="Found">
        {entries.map((entry, index) => (
          <li
            key={entry.id}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseMove={() => setChosen(index)}
            onClick={() => go(entry)}
          >
            <span dir="auto">{entry.title}</span>
            <span class="fine">{entry.place}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p class="palette-none">Nothing found for “{query}”.</p>}
    </dialog>
  );
}
