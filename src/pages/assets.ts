/** Serves the bundled assets of the hosted pages in the best encoding a client accepts; bundle.ts builds them. */

import { matchesEtag } from '../http/etag.ts';
import { generatedAssets, type GeneratedAsset } from './generated/assets.ts';

type Encoding = 'br' | 'gzip' | 'identity';
type Body = Uint8Array<ArrayBuffer>;

/** One asset under its hashed path; its bytes are decoded on first use. */
export interface Asset {
  readonly path: string;
  readonly contentType: string;
  body(encoding: Encoding): Body;
  etag(encoding: Encoding): string;
}

const assetsByPath = new Map<string, Asset>(
  Object.values(generatedAssets).map((generated) => [generated.path, createAsset(generated)]),
);

/** Returns the path of an asset in this build. Throws for an unknown name, which is a bug in the page. */
export function assetUrl(name: string): string {
  const generated = Object.hasOwn(generatedAssets, name) ? generatedAssets[name] : undefined;
  if (!generated) throw new Error(`no asset is called ${name}; run "bun build.ts --pages"`);
  return generated.path;
}

export function findAsset(path: string): Asset | undefined {
  return assetsByPath.get(path);
}

/** Answers GET and HEAD. The name contains a content hash, so responses are immutable. */
export function assetResponse(request: Request, asset: Asset): Response {
  const encoding = chooseEncoding(request.headers.get('accept-encoding'));
  const etag = asset.etag(encoding);
  const headers = assetHeaders(etag);
  if (matchesEtag(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers });

  const body = asset.body(encoding);
  headers.set('Content-Type', asset.contentType);
  headers.set('Content-Length', String(body.byteLength));
  if (encoding !== 'identity') headers.set('Content-Encoding', encoding);
  return new Response(request.method === 'HEAD' ? null : body, { headers });
}

/** Headers of every asset response, 304 included. */
export function assetHeaders(etag: string): Headers {
  return new Headers({
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
    ETag: etag,
    'X-Content-Type-Options': 'nosniff',
  });
}

/** Returns the ETag of one encoding; each is a separate representation (RFC 9110 §8.8.3). */
export function etagIn(encoding: Encoding, etag: string): string {
  return encoding === 'identity' ? etag : etag.replace(/"$/, `-${encoding}"`);
}

/** Chooses the smallest encoding allowed by Accept-Encoding (RFC 9110 §12.5.3); identity when in doubt. */
export function chooseEncoding(acceptEncoding: string | null): Encoding {
  const accepted = new Map<string, boolean>();
  for (const item of (acceptEncoding ?? '').slice(0, 500).toLowerCase().split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim());
    accepted.set(coding, !parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter)));
  }
  const isAccepted = (coding: string) => accepted.get(coding) ?? accepted.get('*') ?? false;
  if (isAccepted('br')) return 'br';
  if (isAccepted('gzip') || accepted.get('x-gzip')) return 'gzip';
  return 'identity';
}

function createAsset(generated: GeneratedAsset): Asset {
  const decoded = new Map<Encoding, Body>();
  const stored = { br: generated.brotli, gzip: generated.gzip, identity: generated.identity };
  return {
    path: generated.path,
    contentType: generated.contentType,
    body(encoding) {
      const known = decoded.get(encoding);
      if (known) return known;
      const bytes = Uint8Array.fromBase64(stored[encoding]);
      decoded.set(encoding, bytes);
      return bytes;
    },
    etag: (encoding) => etagIn(encoding, generated.etag),
  };
}
