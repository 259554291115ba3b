/** Keeps the state of First steps across the views of the console: in memory only, lost with a reload. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { onTrialToken } from '../pages/browser/trial-channel.ts';

export interface Trial {
  /** The new key, until the reader has stored it. */
  readonly key: string | null;
  /** The address to sign in with; null until the reader names one. */
  readonly email: string | null;
  /** Time of the server at which the trial began, ISO 8601; null until known. Only later mails belong to it. */
  readonly since: string | null;
  /** The session token, handed over or typed; may be empty. */
  readonly token: string;
}

const NEW_TRIAL: Trial = { key: null, email: null, since: null, token: '' };

/** Whether a text has the form of a session token. The session may have ended, or belong to another application. */
export const isSessionToken = (text: string): boolean => /^est_\w{40,}$/.test(text.trim());

type ChangeTrial = (change: Partial<Trial>) => void;

interface Trials {
  readonly byApplication: ReadonlyMap<string, Trial>;
  change(applicationId: string, change: Partial<Trial>): void;
}

const TrialsContext = createContext<Trials>({ byApplication: new Map(), change() {} });

/** Provides trials to all views, and receives the tokens of trial sign-ins in this browser. */
export function TrialsProvider({ children }: { readonly children: ComponentChildren }) {
  const [byApplication, setTrials] = useState<ReadonlyMap<string, Trial>>(new Map());
  const trials = useMemo<Trials>(
    () => ({
      byApplication,
      change: (applicationId, change) =>
        setTrials((now) => {
          const trial = { ...(now.get(applicationId) ?? NEW_TRIAL), ...change };
          return new Map(now).set(applicationId, trial);
        }),
    }),
    [byApplication],
  );
  useEffect(() => onTrialToken(({ applicationId, token }) => trials.change(applicationId, { token })), []);
  return <TrialsContext.Provider value={trials}>{children}</TrialsContext.Provider>;
}

export function useTrial(applicationId: string): [Trial, ChangeTrial] {
  const { byApplication, change } = useContext(TrialsContext);
  return [byApplication.get(applicationId) ?? NEW_TRIAL, (changed) => change(applicationId, changed)];
}
