import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import java.security.MessageDigest;
import java.util.HexFormat;

/** Netty whose event loops leave what costs CPU to other threads: NettyRender PORT LOOPS RENDERERS ROUNDS */
public class NettyRender {
    public static void main(String[] arguments) {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(Integer.parseInt(arguments[1]), NioIoHandler.newFactory());
        DefaultEventExecutorGroup renderers = new DefaultEventExecutorGroup(Integer.parseInt(arguments[2]));
        int rounds = Integer.parseInt(arguments[3]);
        new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class).option(ChannelOption.SO_BACKLOG, 1024)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline()
                        .addLast(new HttpServerCodec(), new HttpServerKeepAliveHandler(), new HttpObjectAggregator(65536))
                        .addLast(renderers, new Renderer(rounds));
                }
            }).bind(Integer.parseInt(arguments[0])).syncUninterruptibly();
    }

    private static final class Renderer extends SimpleChannelInboundHandler<FullHttpRequest> {
        private final int rounds;

        Renderer(int rounds) {
            this.rounds = rounds;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) throws Exception {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] page = request.uri().getBytes();
            for (int round = 0; round < (request.uri().equals("/healthz") ? 1 : rounds); round++) {
                page = digest.digest(page);
            }
            byte[] body = HexFormat.of().formatHex(page).getBytes();
            DefaultFullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(body));
            response.headers().set("Content-Length", body.length);
            context.writeAndFlush(response);
        }
    }
}
