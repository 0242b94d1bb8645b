import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** A name node and two data nodes in this process: {@code FOLDER-OF-ITS-OWN LOCAL REMOTE}; its URI is printed. */
final class Hdfs {
    public static void main(String[] args) throws Exception {
        Configuration settings = new Configuration();
        settings.set("hdfs.minidfs.basedir", args[0]);
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(settings).numDataNodes(2).build();
        cluster.waitActive();
        URI uri = cluster.getURI();
        try (FileSystem files = FileSystem.newInstance(uri, settings)) {
            files.copyFromLocalFile(new Path("file://" + args[1]), new Path(args[2]));
        }
        System.out.println("up " + uri);
        System.in.read();
        cluster.shutdown();
        System.exit(0);
    }
}
