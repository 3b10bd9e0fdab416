// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.

/** The settings `functions.*`. */
export interface FunctionsProps {
  readonly receive?: FunctionsReceiveProps;
  readonly store?: FunctionsStoreProps;
  readonly relay?: FunctionsRelayProps;
  readonly fetch?: FunctionsFetchProps;
  readonly read?: FunctionsReadProps;
  readonly refresh?: FunctionsRefreshProps;
  readonly register?: FunctionsRegisterProps;
  readonly reconcile?: FunctionsReconcileProps;
  readonly archive?: FunctionsArchiveProps;
  readonly erase?: FunctionsEraseProps;
}

/** The settings `functions.receive.*`. */
export interface FunctionsReceiveProps {
  /**
   * From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number;
  /**
   * From 1 to 29.
   * @default 10
   */
  readonly timeoutSeconds?: number;
  /** So many environments are kept for each of the four receivers, and it gets no more; beyond it the provider is answered 503 and sends again. From 1 to 100000. */
  readonly reservedConcurrency?: number;
}

/** The settings `functions.store.*`. */
export interface FunctionsStoreProps {
  /**
   * From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number;
  /**
   * From 1 to 900.
   * @default 20
   */
  readonly timeoutSeconds?: number;
}

/** The settings `functions.relay.*`. */
export interface FunctionsRelayProps {
  /**
   * From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number;
  /**
   * From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number;
}

/** The settings `functions.fetch.*`. */
export interface FunctionsFetchProps {
  /**
   * From 128 to 10240.
   * @default 1024
   */
  readonly memoryMb?: number;
  /**
   * From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number;
}

/** The settings `functions.read.*`. */
export interface FunctionsReadProps {
  /**
   * Of the function that answers reads; the largest answer, 200 MB, takes 100 s. From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number;
  /**
   * Of the function that answers reads; the largest answer, 200 MB, takes 100 s. From 1 to 900.
   * @default 120
   */
  readonly timeoutSeconds?: number;
}

/** The settings `functions.refresh.*`. */
export interface FunctionsRefreshProps {
  /**
   * From 128 to 10240.
   * @default 256
   */
  readonly memoryMb?: number;
  /**
   * From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number;
}

/** The settings `functions.register.*`. */
export interface FunctionsRegisterProps {
  /**
   * From 128 to 10240.
   * @default 256
   */
  readonly memoryMb?: number;
  /**
   * From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number;
}

/** The settings `functions.reconcile.*`. */
export interface FunctionsReconcileProps {
  /**
   * From 128 to 10240.
   * @default 256
   */
  readonly memoryMb?: number;
  /**
   * From 1 to 900.
   * @default 300
   */
  readonly timeoutSeconds?: number;
}

/** The settings `functions.archive.*`. */
export interface FunctionsArchiveProps {
  /**
   * From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number;
  /**
   * From 1 to 900.
   * @default 300
   */
  readonly timeoutSeconds?: number;
}

/** The settings `functions.erase.*`. */
export interface FunctionsEraseProps {
  /**
   * From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number;
  /**
   * From 1 to 900.
   * @default 300
   */
  readonly timeoutSeconds?: number;
}
