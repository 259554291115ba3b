/** Passes a trial's session token to the console in this browser. Other origins cannot listen. */

export interface TrialToken {
  readonly applicationId: string;
  readonly token: string;
}

const NAME = 'gatehouse.sign-in-trial';

export function sendTrialToken(message: TrialToken): void {
  const channel = new BroadcastChannel(NAME);
  channel.postMessage(message);
  channel.close();
}

/** @returns a function that stops listening. */
export function onTrialToken(listener: (message: TrialToken) => void): () => void {
  const channel = new BroadcastChannel(NAME);
  channel.addEventListener('message', ({ data }: MessageEvent<TrialToken>) => listener(data));
  return () => channel.close();
}
