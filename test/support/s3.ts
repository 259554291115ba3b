/** A real S3 server on this machine, with one empty bucket. */
import { emptyFolder } from './binary.ts';

export interface BucketServer {
  readonly bucket: string;
  /** Settings of an instance that uses it. */
  readonly env: Record<string, string>;
  readonly client: Bun.S3Client;
  keys(): Promise<string[]>;
  stop(): Promise<void>;
}

interface S3rver {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}

export async function startBucket(bucket = 'backups'): Promise<BucketServer> {
  // The package has no types.
  const { default: Server } = (await import('@20minutes/s3rver' as string)) as {
    default: new (options: object) => S3rver;
  };
  const folder = emptyFolder();
  const server = new Server({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder.path,
    configureBuckets: [{ name: bucket, configs: [] }],
    // It drops a slash of the signed path when it lists a bucket; it still checks the access key.
    allowMismatchedSignatures: true,
  });
  const { port } = await server.run();
  const endpoint = `http://127.0.0.1:${port}`;
  const access = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  const client = new Bun.S3Client({ ...access, endpoint, bucket, region: 'us-east-1' });
  return {
    bucket,
    env: {
      GATEHOUSE_S3_ENDPOINT: endpoint,
      GATEHOUSE_S3_REGION: 'us-east-1',
      GATEHOUSE_S3_ACCESS_KEY_ID: access.accessKeyId,
      GATEHOUSE_S3_SECRET_ACCESS_KEY: access.secretAccessKey,
    },
    client,
    keys: async () => ((await client.list()).contents ?? []).map(({ key }) => key).sort(),
    async stop() {
      await server.close();
      folder.remove();
    },
  };
}
