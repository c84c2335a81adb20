/**
 * Where to connect for a host and port of the cluster. Inside the cluster that is the address itself; from outside
 * it is the local end of a port-forward. Names in URLs, Host headers and certificates stay what they were.
 */
export type Dial = (host: string, port: number) => Promise<{ readonly host: string; readonly port: number }>;

export const direct: Dial = async (host, port) => ({ host, port });

/** Every exchange with a backend ends by then: below leaseDuration - renewDeadline (rule 28), above a slow restart. */
export const DEADLINE = 5_000;
