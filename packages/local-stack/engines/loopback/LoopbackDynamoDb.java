import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import software.amazon.dynamodb.services.local.main.ServerRunner;

/** Starts DynamoDB Local on loopback: it has no option for that, and listens on all interfaces by itself. */
public final class LoopbackDynamoDb {
  public static void main(String[] arguments) throws Exception {
    var dynamoDb = ServerRunner.createServerFromCommandLineArgs(arguments);
    var field = dynamoDb.getClass().getDeclaredField("server");
    field.setAccessible(true);
    var server = (Server) field.get(dynamoDb);
    for (Connector connector : server.getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    server.setHandler(new ThisRunOnly(server.getHandler(), System.getenv("ENGINE_SECRET")));
    dynamoDb.start();
    dynamoDb.join();
  }

  /**
   * Answers who knows the secret of the run. A page in a browser reaches loopback by a name of its own that leads there:
   * it sends that name.
   */
  private static final class ThisRunOnly extends Handler.Wrapper {
    private final byte[] secret;

    ThisRunOnly(Handler handler, String secret) {
      super(handler);
      this.secret = secret.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
      var host = Request.getServerName(request);
      var given = String.valueOf(request.getHeaders().get("x-engine-secret"));
      var isKnown = MessageDigest.isEqual(secret, given.getBytes(StandardCharsets.UTF_8));
      if (isKnown && ("127.0.0.1".equals(host) || "localhost".equals(host))) {
        return super.handle(request, response, callback);
      }
      response.setStatus(HttpStatus.FORBIDDEN_403);
      callback.succeeded();
      return true;
    }
  }
}
